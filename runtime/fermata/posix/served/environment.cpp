// SPDX-License-Identifier: Apache-2.0

// Environment variables, and the locale, as foreign libraries see them. The program's own are those
// of the real process.

#include "fermata/posix/environment.hpp"

#include <array>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cstring>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/told_by_caller.hpp"

using fermata::posix::Environment;
using fermata::posix::machine_for;

namespace {

/// Null: those of the real process.
Environment* variables_for(const void* from) noexcept {
  FERMATA_ASSERT(from != nullptr);
  fermata::posix::Kernel* const machine = machine_for(from);
  return machine == nullptr ? nullptr : machine->environment();
}

constinit std::array<char, 2> only_locale = {'C', '\0'};

bool is_name(const char* name) noexcept {
  return name != nullptr && *name != '\0' && std::strchr(name, '=') == nullptr;
}

int refuse_name() noexcept {
  errno = EINVAL;
  return -1;
}

}  // namespace

extern "C" {

char* getenv(const char* name) noexcept {
  Environment* const variables = variables_for(__builtin_return_address(0));
  return variables == nullptr ? FERMATA_REAL(getenv)(name) : variables->find(name);
}

char* secure_getenv(const char* name) noexcept {
  Environment* const variables = variables_for(__builtin_return_address(0));
  return variables == nullptr ? FERMATA_REAL(secure_getenv)(name) : variables->find(name);
}

int setenv(const char* name, const char* value, int overwrites) noexcept {
  Environment* const variables = variables_for(__builtin_return_address(0));
  if (variables == nullptr) return FERMATA_REAL(setenv)(name, value, overwrites);
  if (!is_name(name)) return refuse_name();
  if (overwrites != 0 || variables->find(name) == nullptr) variables->set(name, value);
  return 0;
}

int unsetenv(const char* name) noexcept {
  Environment* const variables = variables_for(__builtin_return_address(0));
  if (variables == nullptr) return FERMATA_REAL(unsetenv)(name);
  if (!is_name(name)) return refuse_name();
  variables->unset(name);
  return 0;
}

int clearenv() noexcept {
  Environment* const variables = variables_for(__builtin_return_address(0));
  if (variables == nullptr) return FERMATA_REAL(clearenv)();
  variables->clear();
  return 0;
}

// No variable names a locale; and there is no other one.
char* setlocale(int category, const char* locale) noexcept {
  if (machine_for(__builtin_return_address(0)) == nullptr) {
    return FERMATA_REAL(setlocale)(category, locale);
  }
  const std::string_view wanted = locale == nullptr ? "" : locale;
  FERMATA_ASSERT(only_locale.front() == 'C');
  return wanted.empty() || wanted == "C" || wanted == "POSIX" ? only_locale.data() : nullptr;
}

// The text is copied: what the caller changes in it later has no effect.
int putenv(char* text) noexcept {
  Environment* const variables = variables_for(__builtin_return_address(0));
  if (variables == nullptr) return FERMATA_REAL(putenv)(text);
  const std::string_view whole(text);
  const std::size_t sign = whole.find('=');
  FERMATA_ASSERT(sign == whole.npos || sign < whole.size());
  if (sign == 0) return refuse_name();
  if (sign == whole.npos) {
    variables->unset(whole);
  } else {
    variables->set(whole.substr(0, sign), whole.substr(sign + 1));
  }
  return 0;
}

}  // extern "C"
