// SPDX-License-Identifier: Apache-2.0
#pragma once

// A simulated test that is fuzzed instead of explored. Who brings the inputs is not known here: it
// is libFuzzer, or what reads files (driver.hpp).

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fermata/sim/fuzz/target.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/run/fuzzer.hpp"

namespace fermata::sim::detail {

class FuzzSession {
 public:
  /// What `test` refers to must outlive this.
  explicit FuzzSession(const FuzzedTest& test);

  /// Runs one input. False: it has failed; the failure was run again in a fresh process, made
  /// small, explained, written to a tape and reported, and the GoogleTest test has failed.
  bool run(std::span<const std::uint8_t> bytes);

  /// Tells the tool what the inputs that passed came to; those that failed are told of one by one.
  /// The driver calls it once, after the last input.
  void tell_end() const;

  /// Called when an input has failed; null: nothing is.
  void call_before_report(void (*action)()) noexcept { before_report_ = action; }

  [[nodiscard]] const FuzzTarget& target() const noexcept { return *target_; }

 private:
  void make_target();
  [[nodiscard]] ExploreOptions options() const;
  void report(std::string strategy, std::uint64_t seed);

  FuzzedTest test_;
  ExploreResult passed_;  // What the inputs came to that have not failed.
  void (*before_report_)() = nullptr;
  std::unique_ptr<FuzzTarget> target_;
};

/// Brings inputs to a session until there are no more, or one has failed.
using FuzzDriver = void (*)(FuzzSession& session);

/// Makes this program one that can be fuzzed: with FERMATA_FUZZ `driver` brings the inputs.
void register_fuzz_driver(FuzzDriver driver) noexcept;

}  // namespace fermata::sim::detail
