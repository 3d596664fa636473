// SPDX-License-Identifier: Apache-2.0
#pragma once

// Explores entries of the suite with each strategy, one turn after the other, and says what that
// came to.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/run/process/shared_status.hpp"
#include "properties/suite/entries.hpp"

namespace fermata::properties::suite {

/// What was asked for.
struct Choice {
  std::uint64_t runs = 0;  // Schedules explored for each entry; 0: as many as are worth it.
  std::uint64_t seed = 1;
  std::string only;            // Names with commas between; empty: all.
  std::string strategy;        // Empty: each in turn, with seeds of its own.
  std::string faults = "all";  // In the syntax of FaultSet::parse().

  /// Whether all there is to explore is explored, as long as that is worth it.
  [[nodiscard]] bool is_default() const {
    return runs == 0 && only.empty() && strategy.empty() && faults == "all";
  }
  [[nodiscard]] std::string faults_option() const {
    return faults == "all" ? "" : " --faults " + faults;
  }
};

/// Every `of`-th entry from the one with number `first`, and as large a part of the steps.
struct Share {
  std::size_t first = 0;
  std::size_t of = 1;
};

/// What was explored. It has no pointers, so that processes can share it.
struct Result {
  struct Row {
    std::uint64_t runs = 0;
    std::uint64_t distinct = 0;
  };
  static constexpr std::size_t kMostEntries = 64;

  Row rows[kMostEntries];  // In the order of the entries; those of other shares stay empty.
  std::uint64_t controls = 0;
  std::uint64_t steps = 0;
  Duration virtual_time{};
  sim::FaultCounts faults{};
  Tally in_laws;

  void add(const Result& other);
};

/// The entries that were asked for. Throws UsageError when there is no such entry.
[[nodiscard]] std::vector<Entry> chosen(const Choice& choice, Tally* total = nullptr);

/// Explores a share of them. Returns what the process is to end with: a failure has been printed.
[[nodiscard]] int explore(const Choice& choice, Share share, const sim::SharedStatus& status,
                          Result& result);

/// A line for each entry, and statistics.
void print(const Choice& choice, const Result& result, double seconds);

}  // namespace fermata::properties::suite
