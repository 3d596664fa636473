// SPDX-License-Identifier: Apache-2.0
#pragma once

// A run in a file: what it was a run of, and its decisions that were not calm. The format is
// described in docs/tape.md.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/base/time.hpp"
#include "fermata/sim/base/run_limits.hpp"
#include "fermata/sim/tape/decision.hpp"

namespace fermata::sim {

/// The text is not a tape, or is not complete.
class TapeError : public Error {
 public:
  using Error::Error;
};

/// The format that this build writes, and the only one that it reads.
inline constexpr std::string_view kTapeFormat = "2";

struct Tape {
  /// "Suite.Name".
  std::string test;
  /// The test program, as it was called; relative to its folder then. Empty when it is not known.
  std::string program;
  std::uint64_t seed = 0;
  std::string strategy;
  std::string faults;
  detail::RunLimits limits;
  /// How RapidCheck makes the arguments again; empty when the test takes none.
  std::string rapidcheck;

  /// The signature of the failure.
  std::string signature;
  std::uint64_t trace_hash = 0;

  std::uint64_t draws = 0;
  std::vector<Decision> decisions;
  /// Names of what the decisions concern.
  KeyNames names;
  /// Origins of the coroutines that the decisions concern, and of their ancestors.
  Origins origins;
};

/// Takes from the run's names and origins what `tape.decisions` speak of.
void set_names(Tape& tape, const KeyNames& names, const Origins& origins);

/// How many of its decisions reports show.
[[nodiscard]] std::size_t count_shown(const Tape& tape);

[[nodiscard]] std::string to_text(const Tape& tape);

/// `origin` says in errors where the text is from. Throws TapeError, which names the line and what
/// was expected there.
[[nodiscard]] Tape parse_tape(std::string_view text, std::string_view origin);

/// Throws InputOutputError when the file cannot be read, TapeError when it is not a tape.
[[nodiscard]] Tape load_tape(const std::string& path);

/// Creates the folders on the way. Throws InputOutputError.
void save_tape(const Tape& tape, const std::string& path);

}  // namespace fermata::sim
