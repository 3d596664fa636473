// SPDX-License-Identifier: Apache-2.0

// How a foreign library ends its process. The program's own ends are its own business.

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <string>

#include "fermata/base/assert.hpp"
#include "fermata/posix/foreign_code.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/ends.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::Function;
using fermata::posix::is_foreign_code;
using fermata::posix::real;
using fermata::posix::serving_machine;

namespace {

std::terminate_handler former_handler = nullptr;

std::string current_exception_text() {
  try {
    if (std::current_exception() == nullptr) return {};
    throw;
  } catch (const std::exception& error) {
    return fmt::format(" for an exception: {}", error.what());
  } catch (...) {
    return " for an exception";
  }
}

// Also when what unwinds a coroutine finds a destructor that cannot be left, such as that of a
// std::thread that nobody has joined.
void on_terminate() {
  if (serving_machine() != nullptr) serving_machine()->terminate(current_exception_text());
  if (former_handler != nullptr) former_handler();
  std::abort();
}

}  // namespace

namespace fermata::posix {

void watch_terminate() noexcept {
  FERMATA_ASSERT(former_handler == nullptr);
  former_handler = std::set_terminate(&on_terminate);
}

}  // namespace fermata::posix

extern "C" {

// Under names of their own: what the headers declare throws nothing.
[[noreturn]] void fermata_abort() asm("abort");
[[noreturn]] void fermata_assert_fail(const char* assertion, const char* file, unsigned line,
                                      const char* function) asm("__assert_fail");

void fermata_abort() {
  if (serving_machine() != nullptr && is_foreign_code(__builtin_return_address(0))) {
    serving_machine()->abort("abort()");
  }
  real<void()>(Function::abort)();
  __builtin_unreachable();
}

void fermata_assert_fail(const char* assertion, const char* file, unsigned line,
                         const char* function) {
  if (serving_machine() != nullptr && is_foreign_code(__builtin_return_address(0))) {
    serving_machine()->abort(fmt::format("{}:{}: {}: Assertion `{}' failed", file, line,
                                         function != nullptr ? function : "?", assertion));
  }
  real<void(const char*, const char*, unsigned, const char*)>(Function::__assert_fail)(
      assertion, file, line, function);
  __builtin_unreachable();
}

}  // extern "C"
