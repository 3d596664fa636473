// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace fermata::sim::detail {

/// The functions that the guard watches, in alphabetical order.
inline constexpr std::array<std::string_view, 17> kGuardedFunctions = {
    "arc4random",   "clock",     "clock_gettime",      "clock_nanosleep", "fork",
    "getentropy",   "getrandom", "gettimeofday",       "nanosleep",       "pthread_create",
    "sched_yield",  "sleep",     "std::random_device", "thrd_create",     "time",
    "timespec_get", "usleep"};

/// Looks up what the functions were before, so that nothing has to be looked up on the stack of a
/// coroutine.
void find_guarded_functions() noexcept;

/// From now on `listener` is called when the program ends this process by exit(), _exit() or
/// _Exit(), with the return address of that call; null: nobody is.
void listen_to_exits(void (*listener)(const void* caller) noexcept) noexcept;

/// Whether simulated code runs on this thread that nobody has allowed anything.
[[nodiscard]] bool is_guarded() noexcept;

/// Simulated code has called `function`. Returns whether it is to have its effect. REQUIRES:
/// is_guarded().
[[nodiscard]] bool report_guarded(const char* function);

}  // namespace fermata::sim::detail
