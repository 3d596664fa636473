// SPDX-License-Identifier: Apache-2.0
#pragma once

// A test program that has libFuzzer in it (docs/guide/fuzzing.md), fuzzing one test. What it comes
// to is a function of what is asked for: libFuzzer draws from a seed, reads its inputs in the order
// in which they are named, and looks at no folder that others write to.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "fermata/sim/cli/event_reader.hpp"
#include "fermata/sim/cli/run_options.hpp"
#include "fermata/sim/cli/test_binary.hpp"

namespace fermata::sim::cli {

/// The strategy of a plan whose tests are fuzzed.
inline constexpr const char* kLibFuzzer = "libfuzzer";

/// Inputs by their names, which are hashes of them.
using Inputs = std::map<std::string, std::string>;

/// The name of an input: 16 hexadecimal digits.
[[nodiscard]] std::string name_of_input(std::string_view bytes);

/// A program, and how its tests are run. All must outlive this.
struct FuzzedProgram {
  const TestBinary& binary;
  const RunOptions& options;
  /// Called many times a second, while a process is waited for; it may suspend.
  std::function<void()> waiting;
};

struct Fuzzing {
  std::uint64_t seed = 0;
  /// How many inputs to try, beside those of the corpus.
  std::uint64_t inputs = 0;
};

struct Fuzzed {
  std::uint64_t tried = 0;  // Beside those of the corpus.
  /// What those that passed came to.
  EventFiles passed;
  /// The inputs that have reached something new.
  Inputs fresh;
  /// The one that failed: the last one.
  std::optional<std::string> failing;
};

/// Fuzzes `test`, beginning with `corpus`, until an input fails or all are tried; with files in the
/// folder `folder`, which is made anew. Nothing when an interrupt has ended it. Throws Error when
/// the program does not fuzz.
[[nodiscard]] std::optional<Fuzzed> fuzz(const FuzzedProgram& program, const std::string& test,
                                         const Inputs& corpus, const Fuzzing& fuzzing,
                                         const std::string& folder);

/// A small part of `inputs` that reaches all that they reach together, by libFuzzer's `-merge=1`.
/// Nothing when an interrupt has ended it. Throws Error when the program does not merge.
[[nodiscard]] std::optional<Inputs> merged(const FuzzedProgram& program, const std::string& test,
                                           const Inputs& inputs, const std::string& folder);

}  // namespace fermata::sim::cli
