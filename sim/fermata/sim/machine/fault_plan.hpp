// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which faults a run has and when they strike. Drawn in two steps (swarm testing): first which
// kinds exist in this run, then how often each strikes, so that some runs are made of one kind
// only. The faults that the program names are drawn likewise, each name by itself. Crashes are not:
// a machine has one life, or a few, in a run, so most runs that may have a crash have one.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/tape/decisions.hpp"

namespace fermata::sim::detail {

/// Is told of the faults that strike.
class FaultListener {
 public:
  /// `key` names the draw.
  virtual void struck(Fault fault, std::uint64_t key) = 0;

 protected:
  ~FaultListener() = default;
};

class FaultPlan final : private FaultPoints {
 public:
  explicit FaultPlan(Decisions& decisions) noexcept : decisions_(decisions) {}
  FaultPlan(const FaultPlan&) = delete;
  FaultPlan& operator=(const FaultPlan&) = delete;
  ~FaultPlan();

  /// Begins a run in which the kinds of `allowed` may occur. `listener` may be null; else it must
  /// outlive the run.
  void begin(FaultSet allowed, FaultListener* listener = nullptr) noexcept;
  /// Nothing strikes any more.
  void stop() noexcept;
  [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }

  /// Whether it is known that `fault` does not strike any more: nothing need be drawn.
  [[nodiscard]] bool is_absent(Fault fault) const noexcept {
    return kinds_[static_cast<std::size_t>(fault)].presence == Presence::Absent;
  }

  /// Whether `fault` strikes here; counted when it does.
  bool strikes(Fault fault, RandomStream stream, std::uint64_t key) {
    return strength(fault, stream, key, 2) != 0;
  }

  /// How hard `fault` strikes here: 0 for not at all, else up to `bound` - 1.
  std::uint64_t strength(Fault fault, RandomStream stream, std::uint64_t key, std::uint64_t bound) {
    return is_absent(fault) ? 0 : drawn_strength(fault, stream, key, bound);
  }

  /// Whether `fault` may still strike in this run.
  [[nodiscard]] bool allows(Fault fault) const noexcept { return !stopped_ && allowed_.has(fault); }
  /// After how much of its course `subject` is to be struck by `fault`, with `odds`; 0 for never.
  /// For what is rare by its nature: no swarm decides whether a run has it. Not counted yet.
  std::uint64_t place(Fault fault, RandomStream stream, std::uint64_t key, std::uint64_t subject,
                      Odds odds);
  /// What was planned by place() has come to pass.
  void struck_as_planned(Fault fault, std::uint64_t key) {
    FERMATA_ASSERT(allows(fault));
    count(fault, key);
  }

  [[nodiscard]] const FaultCounts& counts() const noexcept { return counts_; }
  /// The kinds and the names that this run has had, a line each: how often they were to strike, and
  /// how often they did.
  [[nodiscard]] std::string text() const;
  /// Those that have struck and still may, "reset, delay"; empty when none does.
  [[nodiscard]] std::string names_going() const;

 private:
  enum class Presence : std::uint8_t { Undecided, Absent, Present };
  struct Kind {
    Presence presence = Presence::Undecided;
    Odds odds{0, 1};
  };
  /// Of the draws whether a run has it, and how often it strikes.
  struct Keys {
    std::uint64_t present = 0;
    std::uint64_t odds = 0;
  };
  struct Point : Kind {
    std::uint64_t struck = 0;
  };

  bool strikes(std::string_view name) override;

  std::uint64_t drawn_strength(Fault fault, RandomStream stream, std::uint64_t key,
                               std::uint64_t bound);
  void count(Fault fault, std::uint64_t key);
  void decide(std::string_view name, const Keys& keys, bool allowed, Kind& kind);
  [[nodiscard]] static Keys keys_of(std::string_view name) noexcept;
  [[nodiscard]] static const Keys& keys_of(Fault fault) noexcept;

  Decisions& decisions_;
  FaultListener* listener_ = nullptr;
  FaultSet allowed_ = FaultSet::none();
  std::array<Kind, kFaultCount> kinds_;
  FaultCounts counts_{};
  std::map<std::string, Point, std::less<>> points_;  // By name; of earlier runs too.
  bool stopped_ = false;
};

}  // namespace fermata::sim::detail
