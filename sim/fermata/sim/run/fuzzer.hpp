// SPDX-License-Identifier: Apache-2.0
#pragma once

// The seam to the fuzzer. A program that can be fuzzed registers one, and FERMATA_FUZZ hands it the
// test; what a fuzzer is, is not known here (fermata/sim/fuzz/session.hpp).

#include <string>

#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/event_writer.hpp"
#include "fermata/sim/run/failure_pipeline.hpp"
#include "fermata/sim/run/runner.hpp"

namespace fermata::sim::detail {

/// A simulated test to fuzz. Everything in it outlives the call of the fuzzer.
struct FuzzedTest {
  const Program& program;
  const Options& options;
  const std::string& name;  // "Suite.Name"
  const FailurePipeline& failures;
  const EventWriter& events;
};

/// Runs the test with its inputs until there are no more, or one has failed.
using Fuzzer = void (*)(const FuzzedTest& test);

/// The registered fuzzer; null: this program has none.
[[nodiscard]] Fuzzer fuzzer() noexcept;
void register_fuzzer(Fuzzer fuzzer) noexcept;

}  // namespace fermata::sim::detail
