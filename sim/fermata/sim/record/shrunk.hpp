// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "fermata/sim/record/found_failure.hpp"

namespace fermata::sim {

/// A failing run that was made small.
struct Shrunk {
  /// What is left; its tape and its picture are those of the smaller run. Of a crash the picture
  /// ends before the step that ends the process.
  FoundFailure found;
  std::size_t decisions_before = 0;
  /// How often the arguments were made smaller.
  std::size_t smaller_arguments = 0;
  std::uint64_t runs = 0;
  /// Whether nothing was left untried: no single decision can be dropped.
  bool minimal = false;
  /// More about what the runs cost: "in processes of their own, 1.2 s". May be empty.
  std::string cost;

  /// "shrunk: 412 decisions -> 2, arguments 7 times smaller (187 runs)".
  [[nodiscard]] std::string summary() const;
};

}  // namespace fermata::sim
