// SPDX-License-Identifier: Apache-2.0

// The system's log, which is a part of what a simulated process prints: "syslog: name: text".

#include <syslog.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "fermata/base/assert.hpp"
#include "fermata/posix/process_state.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::Kernel;
using fermata::posix::ProcessState;
using fermata::posix::serving_machine;
using fermata::posix::SystemLog;

namespace {

/// Null: the log is the real one.
SystemLog* log() noexcept {
  Kernel* const machine = serving_machine();
  ProcessState* const process = machine == nullptr ? nullptr : machine->state();
  return process == nullptr ? nullptr : &process->log;
}

void print(const SystemLog& log, int priority, const char* format, va_list arguments) {
  FERMATA_ASSERT(format != nullptr);
  if ((LOG_MASK(LOG_PRI(priority)) & log.mask) == 0) return;
  char* text = nullptr;
  if (::vasprintf(&text, format, arguments) < 0) return;
  const char* const name = log.name == nullptr ? "program" : log.name;
  if ((log.options & LOG_PID) != 0) {
    std::fprintf(stderr, "syslog: %s[%d]: %s\n", name, static_cast<int>(::getpid()), text);
  } else {
    std::fprintf(stderr, "syslog: %s: %s\n", name, text);
  }
  std::free(text);
}

}  // namespace

extern "C" {

// With _FORTIFY_SOURCE.
void __syslog_chk(int priority, int flag, const char* format, ...);
void __vsyslog_chk(int priority, int flag, const char* format, va_list arguments);

void openlog(const char* name, int options, int facility) {
  SystemLog* const own = log();
  if (own == nullptr) return FERMATA_REAL(openlog)(name, options, facility);
  if (name != nullptr) own->name = name;
  own->options = options;
  if (facility != 0) own->facility = facility;
}

void closelog() {
  SystemLog* const own = log();
  if (own == nullptr) return FERMATA_REAL(closelog)();
  own->name = nullptr;
}

int setlogmask(int mask) noexcept {
  SystemLog* const own = log();
  if (own == nullptr) return FERMATA_REAL(setlogmask)(mask);
  const int before = own->mask;
  if (mask != 0) own->mask = mask;
  return before;
}

void vsyslog(int priority, const char* format, va_list arguments) {
  const SystemLog* const own = log();
  return own == nullptr ? FERMATA_REAL(vsyslog)(priority, format, arguments)
                        : print(*own, priority, format, arguments);
}

void __vsyslog_chk(int priority, int flag, const char* format, va_list arguments) {
  const SystemLog* const own = log();
  return own == nullptr ? FERMATA_REAL(__vsyslog_chk)(priority, flag, format, arguments)
                        : print(*own, priority, format, arguments);
}

void syslog(int priority, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsyslog(priority, format, arguments);
  va_end(arguments);
}

void __syslog_chk(int priority, int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  __vsyslog_chk(priority, flag, format, arguments);
  va_end(arguments);
}

}  // extern "C"
