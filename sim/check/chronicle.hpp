// SPDX-License-Identifier: Apache-2.0
#pragma once

// What happened in one run, step by step, for people: who ran, why it gave way and where, whom it
// woke, and where the run was not calm. Written only in runs that are watched closely.
//
// Memory   The last kMostSteps steps are kept.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/runtime/base/source_place.hpp"
#include "fermata/runtime/base/time.hpp"
#include "fermata/runtime/core/observer.hpp"
#include "fermata/sim/tape/decision.hpp"

namespace fermata {
class CoroutineBase;
}

namespace fermata::sim {

class Chronicle final : public DecisionListener {
 public:
  /// One coroutine of one machine.
  struct Lane {
    std::string machine;
    std::string name;
    std::uint64_t path = 0;
    SourcePlace spawned;
  };

  enum class Ending : std::uint8_t { Runs, Yields, Waits, Ends, Fails };

  struct Wake {
    std::size_t lane = 0;
    WakeCause cause = WakeCause::Event;
  };

  /// The code between two switches.
  struct Step {
    std::uint64_t number = 0;  // As Failure::step counts.
    std::size_t lane = 0;
    Instant at;
    Ending ending = Ending::Runs;  // Runs: the run ended in it.
    std::string reason;            // What it waits for, or the error.
    SourcePlace place;             // Where it gave way; not when it ended.
    std::vector<Wake> woken;       // In its order; Spawn for those that it spawned.
  };

  /// Somebody who could have run.
  struct Suspended {
    std::size_t lane = 0;
    bool begun = false;
    SourcePlace place;               // Where it is suspended; where it was spawned if not begun.
    std::vector<const void*> stack;  // The return addresses, innermost first.
  };

  /// Where the run was not calm.
  struct Turn {
    Decision decision;
    /// How many steps had begun by then.
    std::size_t step = 0;
    /// Of a pick: who ran, and who would have run in production.
    std::optional<Suspended> chosen;
    std::optional<Suspended> passed_over;
  };

  static constexpr std::size_t kMostSteps = 200'000;

  // --- told by the run ---

  void note(std::string_view machine, Trace kind, const CoroutineBase& coroutine,
            std::uint64_t detail, Instant at, std::uint64_t step);
  void decided(const Decision& decision) override;

  // --- the run ---

  [[nodiscard]] const std::vector<Lane>& lanes() const noexcept { return lanes_; }
  /// The last steps of the run, in its order.
  [[nodiscard]] const std::deque<Step>& steps() const noexcept { return steps_; }
  /// How many steps came before those.
  [[nodiscard]] std::size_t forgotten() const noexcept { return forgotten_; }
  [[nodiscard]] const std::vector<Turn>& turns() const noexcept { return turns_; }

 private:
  std::size_t lane_of(std::string_view machine, const CoroutineBase& coroutine);
  void begin(std::size_t lane, Instant at, std::uint64_t step);
  void suspend(std::size_t lane, const CoroutineBase& coroutine);
  void finish(std::size_t lane, const CoroutineBase& coroutine);
  [[nodiscard]] std::optional<Suspended> suspended(std::uint64_t path) const;

  std::vector<Lane> lanes_;
  std::vector<Suspended> present_;  // Of each lane.
  std::map<std::uint64_t, std::size_t> lane_by_path_;
  std::deque<Step> steps_;
  std::size_t forgotten_ = 0;
  bool running_ = false;  // The last step has not ended.
  std::vector<Turn> turns_;
};

}  // namespace fermata::sim
