// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

#include "fermata/sim/cli/exploration.hpp"

namespace fermata::sim::cli {

/// Shows how an exploration goes: on a terminal on one line that changes, elsewhere by a line now
/// and then.
class Progress {
 public:
  explicit Progress(std::size_t tests);

  void show(const Moment& moment);
  /// Makes room for other output.
  void clear();

 private:
  struct Sample {
    std::chrono::milliseconds at{};
    std::uint64_t runs = 0;
    std::uint64_t kinds = 0;
  };

  [[nodiscard]] std::string text(const Moment& moment) const;

  bool terminal_;
  std::size_t tests_;
  std::chrono::milliseconds next_{};
  std::deque<Sample> samples_;  // Of the last seconds.
  bool shown_ = false;
};

}  // namespace fermata::sim::cli
