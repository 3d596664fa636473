// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs that end their process, or never end: how they did it, and where.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fermata::sim {

/// "was killed by signal 11 (Segmentation fault)"; "exited with code 3" when `signal` is 0.
[[nodiscard]] std::string ending_text(int signal, int code);

/// How a process ended before its run did.
struct ProcessEnd {
  enum class Kind : std::uint8_t { None, Signal, Exit, Hang };

  Kind kind = Kind::None;
  int number = 0;  // Of the signal, or the exit code.
  /// Where in the program, as an offset in its file; 0 when that is not known.
  std::uint64_t place = 0;

  friend bool operator==(const ProcessEnd&, const ProcessEnd&) = default;

  [[nodiscard]] bool is_early() const noexcept { return kind != Kind::None; }
  /// "crash: was killed by signal 11 (Segmentation fault)", "hang: wall limit". Not of Kind::None.
  [[nodiscard]] std::string signature() const;
};

/// Whether a run with this signature has ended its process, or did not end.
[[nodiscard]] bool is_crash(std::string_view signature) noexcept;

struct Crash {
  ProcessEnd end;
  /// Where it was when a signal or a sanitizer ended it, or when it was found to hang; innermost
  /// first.
  std::vector<const void*> stack;
  /// The end of what it wrote to its standard error, past what the run itself prints.
  std::string errors;
};

}  // namespace fermata::sim
