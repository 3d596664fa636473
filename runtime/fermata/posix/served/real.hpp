// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions that fermata::posix defines anew, as the C library has them.

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>

#include "fermata/posix/files.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/functions.hpp"
#include "fermata/posix/served/unserved_functions.hpp"

namespace fermata::posix {

/// One for each row of FERMATA_FUNCTIONS and FERMATA_UNSERVED_FUNCTIONS, in their order.
enum class Function : std::size_t {
#define FERMATA_ROW(kind, name) name,
  FERMATA_FUNCTIONS(FERMATA_ROW) FERMATA_UNSERVED_FUNCTIONS(FERMATA_ROW)
#undef FERMATA_ROW
      kCount
};

namespace detail {
/// What is known already, by Function.
extern constinit std::array<std::atomic<void*>, static_cast<std::size_t>(Function::kCount)>
    real_functions;
[[nodiscard, gnu::cold]] void* look_up(Function function) noexcept;
[[nodiscard]] Kernel* serving_from(const void* from) noexcept;
[[nodiscard]] Files* files_from(const void* from) noexcept;
[[nodiscard]] bool is_cpp_library(const void* from) noexcept;
/// Whether the call is one of the libraries that the compiler puts into each program.
[[nodiscard]] bool is_compilers(const void* from) noexcept;
}  // namespace detail

/// What the C library, or the sanitizer before it, has under this name. Ends the program when
/// neither has one.
[[nodiscard]] inline void* find_real(Function function) noexcept {
  void* const known =
      detail::real_functions[static_cast<std::size_t>(function)].load(std::memory_order_relaxed);
  return __builtin_expect(known != nullptr, 1) ? known : detail::look_up(function);
}

/// find_real() with a type: real<decltype(::close)>(Function::close).
template <class F>
[[nodiscard]] F* real(Function function) noexcept {
  return reinterpret_cast<F*>(find_real(function));
}

/// find_real() of a call that nobody serves and that is about no descriptor with a disguise; null
/// for any other one, and when the real function is not known yet.
[[nodiscard]] inline void* quick_real(Function function) noexcept {
  const bool passes_on = serving == nullptr && disguises.load(std::memory_order_relaxed) == nullptr;
  if (__builtin_expect(!passes_on, 0)) return nullptr;
  return detail::real_functions[static_cast<std::size_t>(function)].load(std::memory_order_relaxed);
}

/// The kernel that serves a call from there, which is noted. One that serves waits only does not
/// serve the C++ library, whose streams are those of real files then.
[[nodiscard]] inline Kernel* serving_for(const void* from) noexcept {
  return __builtin_expect(serving == nullptr, 1) ? nullptr : detail::serving_from(from);
}

/// serving_for() of a call that transfers data of `descriptor` or connects it: when nobody serves
/// it, the kernel that makes it look as if it blocks, if it only looks so.
[[nodiscard]] inline Kernel* serving_for(const void* from, int descriptor) noexcept {
  if (__builtin_expect(serving != nullptr, 0)) return detail::serving_from(from);
  Disguises* const all = disguises.load(std::memory_order_relaxed);
  return __builtin_expect(all == nullptr, 1) ? nullptr : all->kernel_of(descriptor);
}

/// The kernel for a call that manages `descriptor`: the one that serves, or else the one that keeps
/// its disguise.
[[nodiscard]] inline Kernel* managing(int descriptor) noexcept {
  if (__builtin_expect(serving != nullptr, 0)) return serving;
  Disguises* const all = disguises.load(std::memory_order_relaxed);
  return __builtin_expect(all == nullptr, 1) ? nullptr : all->keeper_of(descriptor);
}

/// The files that a call from there is about; null: the C library's. Libraries of the system and of
/// the compiler, such as a sanitizer, have the C library's, but for the C++ library.
[[nodiscard]] inline Files* files_for(const void* from) noexcept {
  return __builtin_expect(serving == nullptr, 1) ? nullptr : detail::files_from(from);
}

/// A kernel's result as functions of C give it: -1 and errno instead of a negative errno.
template <class Result>
[[nodiscard]] Result answer(Result result) noexcept {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace fermata::posix

/// The real function of this name, which is called like it.
#define FERMATA_REAL(name) \
  (::fermata::posix::real<decltype(::name)>(::fermata::posix::Function::name))

/// Begins a served function that is called often: passes its call on when nobody serves it, at the
/// cost of few instructions. What follows is a function of its own, so that this one needs no
/// frame.
#define FERMATA_PASS_ON(name, ...)                                                          \
  if (void* const known = ::fermata::posix::quick_real(::fermata::posix::Function::name)) { \
    return reinterpret_cast<decltype(&::name)>(known)(__VA_ARGS__);                         \
  }
