// SPDX-License-Identifier: Apache-2.0
#pragma once

// Uniform random walk: H. Zhao, D. Wolff, U. Mathur, A. Roychoudhury, "Selectively uniform
// concurrency testing", ASPLOS 2025. A coroutine is picked with a probability in proportion to the
// steps that it and what it has yet to spawn have left. When nobody ever waits every interleaving
// is as likely as any other: the one step of a short coroutine falls behind all n of a long one
// with a probability of 1 / (n + 1), where a random walk has 2^-n.
//
// How many steps there are is counted in a first run, a random walk, by spawn path; name() carries
// the counts. A coroutine that was not in it, or has more steps than then, counts as one step.

#include <utility>
#include <vector>

#include "fermata/sim/strategy/path_table.hpp"
#include "fermata/sim/strategy/seeded.hpp"

namespace fermata::sim {

class UrwStrategy final : public SeededStrategy {
 public:
  /// Number of steps by path of the coroutine, including those of its descendants.
  using Weights = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

  /// Nothing is known yet when `weights` is empty.
  explicit UrwStrategy(Weights weights) : weights_(std::move(weights)) {}

  void begin_run(std::uint64_t seed) override;
  std::size_t pick(const Candidates& candidates) override;

  [[nodiscard]] StepNews news() const override { return StepNews::Who; }
  void spawned(std::uint64_t parent, std::uint64_t child) override;
  void end_step(std::uint64_t path, const Footprint& footprint) override;

  /// The maximum number of coroutines remembered: the first ones, in order of spawn.
  static constexpr std::size_t kMostRemembered = 1'000;

 private:
  /// The steps that a coroutine has left; in the first run, those it has made.
  struct Steps {
    std::uint64_t count = 0;
    void reset() noexcept { count = 0; }
  };
  struct Spawned {
    std::uint64_t parent;
    std::uint64_t child;
  };

  [[nodiscard]] std::string order_name() const override;
  void learn(const RunSummary& run) override;
  [[nodiscard]] bool is_counting() const noexcept { return weights_.empty(); }
  [[nodiscard]] std::uint64_t weight(std::uint64_t path);

  Weights weights_;
  PathTable<Steps> steps_;
  std::vector<Spawned> spawned_;        // In the first run, in order.
  std::vector<std::uint64_t> weighed_;  // Of the candidates of a pick.
};

}  // namespace fermata::sim
