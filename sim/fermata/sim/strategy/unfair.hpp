// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the strategies share that may hold a coroutine back forever: a fair suffix. A coroutine of
// high priority that waits in a loop for others would never let them run, and each run of such a
// program would look like a livelock. So a run that is much longer than any before is picked at
// random from there on: what is still a livelock then is one (P. Deligiannis et al., "Uncovering
// bugs in distributed storage systems during testing", FAST 2016, whose tester became Coyote).
//
// What is learnt, the length of the longest run, stands behind the strategy's name as `:k=N`.

#include <string>

#include "fermata/base/assert.hpp"
#include "fermata/sim/strategy/run_length.hpp"
#include "fermata/sim/strategy/seeded.hpp"

namespace fermata::sim {

class UnfairStrategy : public SeededStrategy {
 public:
  void begin_run(std::uint64_t seed) final;
  std::size_t pick(const Candidates& candidates) final {
    if (picked_ >= fair_from_) [[unlikely]] {
      return static_cast<std::size_t>(schedule().below(candidates.size()));
    }
    const std::size_t chosen = choose(candidates, picked_++);
    FERMATA_ASSERT(chosen < candidates.size());
    return chosen;
  }

 protected:
  /// `longest` is the length of the longest run so far; 0 when there was none.
  explicit UnfairStrategy(std::uint64_t longest) noexcept : length_(longest) {}

  [[nodiscard]] const RunLength& length() const noexcept { return length_; }

 private:
  [[nodiscard]] std::string order_name() const final;
  void learn(const RunSummary& run) final { length_.learn_with_suffix(run); }
  /// The name without what was learnt.
  [[nodiscard]] virtual std::string plain_name() const = 0;
  /// A run begins; schedule() is its own already.
  virtual void begin() = 0;
  /// `picked` counts the earlier picks of the run.
  virtual std::size_t choose(const Candidates& candidates, std::uint64_t picked) = 0;

  RunLength length_;
  std::uint64_t picked_ = 0;
  std::uint64_t fair_from_ = 0;
};

}  // namespace fermata::sim
