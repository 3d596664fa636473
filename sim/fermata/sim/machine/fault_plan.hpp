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
  /// `sentence` says what it does; empty when nobody wants to read it.
  virtual void struck(Fault fault, const std::string& sentence) = 0;

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
  void stop() noexcept { stopped_ = true; }
  [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }

  /// Whether it is known that `fault` does not strike any more: nothing need be drawn.
  [[nodiscard]] bool is_absent(Fault fault) const noexcept {
    return kinds_[static_cast<std::size_t>(fault)].presence == Presence::Absent || stopped_;
  }

  /// Whether `fault` strikes here; counted when it does. `teller` says what it does then.
  template <Teller Tell>
  bool strikes(Fault fault, backend::RandomStream stream, std::uint64_t key, const Tell& teller) {
    return strength(fault, stream, key, 2, teller) != 0;
  }

  /// How hard `fault` strikes here: 0 for not at all, else up to `bound` - 1.
  template <Teller Tell>
  std::uint64_t strength(Fault fault, backend::RandomStream stream, std::uint64_t key,
                         std::uint64_t bound, const Tell& teller) {
    if (is_absent(fault) || !is_present(fault)) return 0;
    const Odds odds = kinds_[static_cast<std::size_t>(fault)].odds;
    const std::uint64_t drawn = decisions_.draw_rarely(stream, key, bound, odds, teller);
    FERMATA_ASSERT(drawn < bound);
    if (drawn != 0) count(fault);
    return drawn;
  }

  /// Whether `fault` may still strike in this run.
  [[nodiscard]] bool allows(Fault fault) const noexcept { return !stopped_ && allowed_.has(fault); }
  /// After how much of its course `subject` is to be struck by `fault`, with `odds`; 0 for never.
  /// For what is rare by its nature: no swarm decides whether a run has it. Not counted yet.
  template <Teller Tell>
  std::uint64_t place(Fault fault, backend::RandomStream stream, std::uint64_t key,
                      std::uint64_t subject, Odds odds, const Tell& teller) {
    if (!allows(fault)) return 0;
    Kind& kind = change(fault);
    FERMATA_ASSERT(kind.presence == Presence::Undecided);
    if (kind.odds.numerator == 0) kind.odds = odds;
    const std::uint64_t placed = decisions_.draw_place(stream, key, subject, odds, teller);
    FERMATA_ASSERT(placed < Decisions::kPlaces);
    return placed;
  }
  /// What was planned by place() has come to pass.
  void struck_as_planned(Fault fault) {
    FERMATA_ASSERT(allows(fault));
    changed_.add(fault);
    ++counts_[static_cast<std::size_t>(fault)];
  }

  /// `fault` is planned by somebody else from now on: by itself it does not strike any more.
  void leave_to_plan(Fault fault) noexcept {
    FERMATA_ASSERT(fault != Fault::Point);
    change(fault).presence = Presence::Absent;
  }

  [[nodiscard]] const FaultCounts& counts() const noexcept { return counts_; }
  /// The kinds and the names that this run has had, a line each: how often they were to strike, and
  /// how often they did.
  [[nodiscard]] std::string text() const;
  /// The faults that have struck and still may, "reset, delay"; empty when there are none.
  [[nodiscard]] std::string names_going() const;

 private:
  enum class Presence : std::uint8_t { Undecided, Absent, Present };
  struct Kind {
    Presence presence = Presence::Undecided;
    Odds odds{0, 1};
  };
  /// The keys of two draws: whether a run has the fault, and how often it strikes.
  struct Keys {
    std::uint64_t present = 0;
    std::uint64_t odds = 0;
  };
  struct Point : Kind {
    std::uint64_t struck = 0;
  };

  bool strikes(std::string_view name) override;

  /// The kind, for a change.
  Kind& change(Fault fault) noexcept {
    FERMATA_ASSERT(static_cast<std::size_t>(fault) < kinds_.size());
    changed_.add(fault);
    return kinds_[static_cast<std::size_t>(fault)];
  }
  /// Whether this run has it, which is drawn when it is not known.
  bool is_present(Fault fault) {
    FERMATA_ASSERT(!stopped_);
    const Kind& kind = kinds_[static_cast<std::size_t>(fault)];
    if (kind.presence == Presence::Undecided) [[unlikely]] {
      decide(keys_of(fault), allowed_.has(fault), change(fault));
    }
    return kind.presence == Presence::Present;
  }
  void count(Fault fault);
  void decide(const Keys& keys, bool allowed, Kind& kind);
  [[nodiscard]] static Keys keys_of(std::string_view name) noexcept;
  [[nodiscard]] static const Keys& keys_of(Fault fault) noexcept;

  Decisions& decisions_;
  FaultListener* listener_ = nullptr;
  FaultSet allowed_ = FaultSet::none();
  std::array<Kind, kFaultCount> kinds_;
  FaultCounts counts_{};
  FaultSet changed_ = FaultSet::none();               // The others are as at the begin of a run.
  std::map<std::string, Point, std::less<>> points_;  // By name; of earlier runs too.
  bool stopped_ = false;
};

}  // namespace fermata::sim::detail
