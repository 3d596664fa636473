// SPDX-License-Identifier: Apache-2.0

// How a foreign library ends its process. The program's own ends are its own business.

#include <fmt/format.h>

#include <cstdlib>

#include "fermata/posix/foreign_code.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::Function;
using fermata::posix::is_foreign_code;
using fermata::posix::real;
using fermata::posix::serving;

extern "C" {

// Under names of their own: what the headers declare throws nothing.
[[noreturn]] void fermata_abort() asm("abort");
[[noreturn]] void fermata_assert_fail(const char* assertion, const char* file, unsigned line,
                                      const char* function) asm("__assert_fail");

void fermata_abort() {
  if (serving != nullptr && is_foreign_code(__builtin_return_address(0))) serving->abort("abort()");
  real<void()>(Function::abort)();
  __builtin_unreachable();
}

void fermata_assert_fail(const char* assertion, const char* file, unsigned line,
                         const char* function) {
  if (serving != nullptr && is_foreign_code(__builtin_return_address(0))) {
    serving->abort(fmt::format("{}:{}: {}: Assertion `{}' failed", file, line,
                               function != nullptr ? function : "?", assertion));
  }
  real<void(const char*, const char*, unsigned, const char*)>(Function::__assert_fail)(
      assertion, file, line, function);
  __builtin_unreachable();
}

}  // extern "C"
