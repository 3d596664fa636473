// SPDX-License-Identifier: Apache-2.0
#pragma once

// How two runs that should have been the same are not: the first step that differs, in both.

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "fermata/sim/record/step_probe.hpp"
#include "fermata/sim/tape/decision.hpp"

namespace fermata::sim::detail {

/// The account of one step of one run, as text; the run may be of another process.
struct StepAccount {
  struct Item {
    std::uint64_t identity = 0;
    std::string text;
    std::vector<std::string> stack;  // The program's functions, innermost first.
  };
  std::string who;
  std::vector<Item> items;
  std::vector<std::string> decisions;

  /// The account of `step`, with the addresses of this process resolved to functions.
  static StepAccount of(const StepProbe::Step& step, const KeyNames& names);

  void write(std::ostream& out) const;
  /// Reads what write() wrote; empty for anything else.
  static StepAccount read(std::istream& in);
};

/// The number of the first step, from 1, after which the hashes differ; one more than the shorter
/// has when it is the beginning of the other. 0 when they are the same.
[[nodiscard]] std::uint64_t first_difference(std::span<const std::uint64_t> first,
                                             std::span<const std::uint64_t> second) noexcept;

/// "the first step that differs is step 7" and what happened there, a side each.
[[nodiscard]] std::string difference_text(std::uint64_t step, const StepAccount& first,
                                          const StepAccount& second);

}  // namespace fermata::sim::detail
