// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a terminal has beyond a stream.

#include <cstdint>

namespace fermata::backend {

/// The standard streams of a program.
enum class StandardStream : std::uint8_t { Input, Output, Error };

/// "standard input", "standard output" or "standard error".
[[nodiscard]] constexpr const char* to_string(StandardStream stream) noexcept {
  constexpr const char* kNames[] = {"standard input", "standard output", "standard error"};
  return kNames[static_cast<unsigned>(stream)];
}

enum class TerminalMode : std::uint8_t {
  Lines,  // input comes by lines, which can be edited, and is echoed; Ctrl-C is a signal
  Raw,    // input comes as it is typed
};

/// In characters.
struct WindowSize {
  int columns = 0;
  int rows = 0;

  friend bool operator==(const WindowSize&, const WindowSize&) = default;
};

}  // namespace fermata::backend
