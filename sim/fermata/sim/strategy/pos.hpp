// SPDX-License-Identifier: Apache-2.0
#pragma once

// Partial order sampling: X. Yuan, J. Yang, R. Gu, "Partial order aware concurrency sampling", CAV
// 2018. Every pending event, here the next step of a coroutine, has a random priority and the
// highest one runs. A step that has run gives its coroutine a new one, and so it does to those
// whose pending steps it is in a race with: the order in which they touch a thing is drawn anew
// each time. An order of independent steps costs nothing; one step that has to wait for n others
// waits with a probability of 1 / (n + 1), where a random walk has 2^-n.
//
// Departure  What a step is going to use is not known before it runs: it is expected to be what the
//            coroutine's last one did, as far as traces of the runtime's objects and what the
//            program announces tell. Where nothing is known a priority stays: the paper's BasicPOS.

#include <vector>

#include "fermata/sim/strategy/path_table.hpp"
#include "fermata/sim/strategy/unfair.hpp"

namespace fermata::sim {

class PosStrategy final : public UnfairStrategy {
 public:
  /// `picks` is the length of the longest run so far; 0 when it is not known yet.
  explicit PosStrategy(std::uint64_t picks) : UnfairStrategy(picks) {}

  [[nodiscard]] StepNews news() const override { return StepNews::Footprints; }
  void end_step(std::uint64_t path, const Footprint& footprint) override;

 private:
  /// The pending step of a coroutine.
  struct Pending {
    std::uint64_t draws = 0;  // How often its priority was drawn anew.
    std::uint64_t step = 0;   // How many steps its coroutine has made.
    void reset() noexcept { *this = Pending(); }
  };
  /// The coroutine that is expected to use a thing next.
  struct User {
    std::uint64_t path;
    std::uint64_t step;  // Outdated once another step of its coroutine has passed.
    bool writes;
  };
  struct Users {
    std::vector<User> all;
    void reset() noexcept { all.clear(); }
  };

  [[nodiscard]] std::string plain_name() const override { return "pos"; }
  void begin() override;
  std::size_t choose(const Candidates& candidates, std::uint64_t picked) override;
  [[nodiscard]] std::uint64_t priority(std::uint64_t path);
  void redraw(Users& users, bool written, std::uint64_t except);

  std::uint64_t salt_ = 0;
  PathTable<Pending> pending_;
  PathTable<Users> users_;  // By thing.
};

}  // namespace fermata::sim
