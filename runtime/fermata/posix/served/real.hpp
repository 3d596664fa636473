// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions that fermata::posix defines anew, as the C library has them.

#include <cerrno>
#include <cstddef>

#include "fermata/posix/served/functions.hpp"

namespace fermata::posix {

class Kernel;

/// One for each row of FERMATA_FUNCTIONS and FERMATA_UNSERVED_FUNCTIONS, in their order.
enum class Function : std::size_t {
#define FERMATA_ROW(kind, name) name,
  FERMATA_FUNCTIONS(FERMATA_ROW) FERMATA_UNSERVED_FUNCTIONS(FERMATA_ROW)
#undef FERMATA_ROW
};

/// What the C library, or the sanitizer before it, has under this name. Ends the program when
/// neither has one.
[[nodiscard]] void* find_real(Function function) noexcept;

/// find_real() with a type: real<decltype(::close)>(Function::close).
template <class F>
[[nodiscard]] F* real(Function function) noexcept {
  return reinterpret_cast<F*>(find_real(function));
}

/// The kernel that serves a call from there, which is noted; null for one of the C++ library, which
/// reads and writes files of its own streams.
[[nodiscard]] Kernel* serving_for(const void* from) noexcept;

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
