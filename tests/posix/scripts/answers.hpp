// SPDX-License-Identifier: Apache-2.0
#pragma once

// How steps tell what has come of them.

#include <cstdint>
#include <span>
#include <string>

#include "tests/posix/scripts/script.hpp"

namespace fermata::test {

/// A result of the system, with the name of errno when it is an error: "-1 EBADF".
[[nodiscard]] std::string result_of(std::int64_t result);

/// A result; behind that of a success stands what `text` returns.
template <class Text>
std::string result_with(std::int64_t result, const Text& text) {
  return result < 0 ? result_of(result) : result_of(result) + " " + text();
}

/// Each byte, and how often it follows: "'a*4 \00*8'".
[[nodiscard]] std::string bytes_text(std::span<const char> bytes);
/// Bits of poll() and epoll by their names: "IN|OUT".
[[nodiscard]] std::string bits_text(std::uint32_t bits);
/// The answer of a step whose `call` has returned `descriptor`, which fills its slot.
[[nodiscard]] Answer opened(Run& run, const Step& step, int descriptor, const std::string& call);

}  // namespace fermata::test
