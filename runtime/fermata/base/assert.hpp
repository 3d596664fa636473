// SPDX-License-Identifier: Apache-2.0
#pragma once

// Assertions that are the same in every build.
//
// FERMATA_REQUIRE  the caller's bug: throws UsageError, nothing has changed.
// FERMATA_ASSERT   our own bug: the state can no longer be trusted, so it reports and aborts.

namespace fermata::detail {

[[noreturn, gnu::cold]] void fail_assertion(const char* condition, const char* file,
                                            int line) noexcept;
[[noreturn, gnu::cold]] void fail_requirement(const char* message);

}  // namespace fermata::detail

#define FERMATA_ASSERT(condition)                                          \
  (__builtin_expect(!(condition), 0)                                       \
       ? ::fermata::detail::fail_assertion(#condition, __FILE__, __LINE__) \
       : static_cast<void>(0))

#define FERMATA_REQUIRE(condition, message)                                         \
  (__builtin_expect(!(condition), 0) ? ::fermata::detail::fail_requirement(message) \
                                     : static_cast<void>(0))
