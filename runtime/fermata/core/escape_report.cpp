// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/escape_report.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/system/mutex.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::detail {

namespace {

constinit os::Mutex escape_lock;
constinit unsigned escape_holders = 0;
constinit std::atomic<std::terminate_handler> former_handler = nullptr;

// Not through stdio: in simulation what goes there is kept for a report that nobody will print.
void tell_escape() noexcept {
  const Runtime* const runtime = current_runtime_pointer;
  if (runtime == nullptr || !is_forced_unwind(std::current_exception())) return;
  const std::string escape = runtime->scheduler().describe_escape();
  if (escape.empty()) return;
  const std::string line = "fermata: " + escape + "\n";
  [[maybe_unused]] const auto written = os::kernel.write(STDERR_FILENO, line.data(), line.size());
}

void on_terminate() {
  tell_escape();
  if (const std::terminate_handler former = former_handler) former();
  std::abort();
}

}  // namespace

EscapeReport::EscapeReport() noexcept {
  const std::lock_guard lock(escape_lock);
  if (escape_holders++ == 0) former_handler = std::set_terminate(&on_terminate);
}

// A handler that someone put over ours stays.
EscapeReport::~EscapeReport() {
  const std::lock_guard lock(escape_lock);
  if (--escape_holders == 0 && std::get_terminate() == &on_terminate) {
    std::set_terminate(former_handler);
  }
}

}  // namespace fermata::detail
