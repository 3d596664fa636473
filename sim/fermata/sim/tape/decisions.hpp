// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one source of every decision of a run. It asks a strategy, or a tape that is replayed, and
// records what was not calm. The runtimes of all nodes of a world share one.
//
// Keys    A caller names its draw by what it is about: key_of(path of the coroutine, "tcp.read"),
//         key_of(link, "loss"). How often that key was drawn before is added here.
// Memory  A run allocates nothing once an earlier one was as long.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/core/chooser.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/tape/decision.hpp"
#include "fermata/sim/tape/occurrences.hpp"
#include "fermata/sim/tape/replay.hpp"
#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

/// Whether the faults that a program names strike.
class FaultPoints {
 public:
  virtual bool strikes(std::string_view name) = 0;

 protected:
  ~FaultPoints() = default;
};

/// A pick that could have been answered in several ways.
struct PickRecord {
  std::uint64_t index = 0;  // As Decision::index.
  std::uint32_t occurrence = 0;
  std::size_t chosen = 0;
  std::vector<std::uint64_t> candidates;  // Their paths, in production's order.
};

class Decisions final : public Chooser {
 public:
  /// The strategy must outlive this.
  explicit Decisions(Strategy& strategy) noexcept : strategy_(&strategy) {}
  Decisions(const Decisions&) = delete;
  Decisions& operator=(const Decisions&) = delete;

  /// Forgets the last run and begins one whose answers come from the strategy.
  void begin(std::uint64_t seed);

  /// Forgets the last run and begins one whose answers come from `replay`, which must outlive it.
  void begin_replay(Replay& replay);

  /// The same for its first `draws` draws; all others are answered by the strategy, from `seed`.
  void begin_replay(Replay& replay, std::uint64_t draws, std::uint64_t seed);

  /// The run is over: the strategy learns from it, whether no earlier one was like it, and whether
  /// it failed; a strict replay looks for what never came.
  void end(bool is_new = false, bool failed = false);

  // --- draws ---

  std::size_t pick(const fermata::detail::ReadyQueue& ready) override {
    return pick(Candidates(ready));
  }
  std::size_t pick(const Candidates& candidates);

  std::uint64_t draw(Stream stream, std::uint64_t key, std::uint64_t bound) override;

  /// Calm except with `odds`: then uniform in [1, bound). REQUIRES: bound > 1.
  std::uint64_t draw_rarely(Stream stream, std::uint64_t key, std::uint64_t bound, Odds odds);

  /// Whether something happens that is not calm.
  bool chance(Stream stream, std::uint64_t key, Odds odds) {
    return draw_rarely(stream, key, 2, odds) != 0;
  }

  /// As Strategy::draw_place, below kPlaces.
  std::uint64_t draw_place(Stream stream, std::uint64_t key, std::uint64_t subject, Odds odds);
  static constexpr std::uint64_t kPlaces = std::uint64_t{1} << 32;

  std::uint64_t spawn_path(std::uint64_t parent, std::string_view name) override;

  /// This is how far its subject came in this run; the first one of each subject counts.
  void came(const Course& course);

  /// Whether end_step is to be called.
  [[nodiscard]] bool wants_steps() const noexcept { return wants_steps_; }
  /// And of what they have used.
  [[nodiscard]] bool wants_uses() const noexcept { return wants_uses_; }
  /// As Strategy::end_step. Only when it is wanted.
  void end_step(std::uint64_t path, const Footprint& footprint) {
    strategy_->end_step(path, footprint);
  }

  bool fault_point(std::string_view name) override {
    return fault_points_ != nullptr && fault_points_->strikes(name);
  }

  // --- what the world tells ---

  /// Who answers fault_point(); null: no. Must outlive this, or be taken away.
  void set_fault_points(FaultPoints* points) noexcept { fault_points_ = points; }

  /// Who knows the time of a draw; null: all are at zero. Must outlive this.
  void set_whereabouts(const Whereabouts* whereabouts) noexcept { whereabouts_ = whereabouts; }

  /// Null: nobody listens. Must outlive this, or be taken away.
  void set_listener(DecisionListener* listener) noexcept { listener_ = listener; }

  /// Whether somebody wants to read names; off while exploring.
  [[nodiscard]] bool naming() const noexcept { return naming_; }
  void set_naming(bool naming) noexcept { naming_ = naming; }
  /// What `key`, or a coroutine's path, is called in reports. Only while naming().
  void name(std::uint64_t key, std::string text);

  // --- what the run was ---

  /// The answers that were not calm, in the order in which they were given.
  [[nodiscard]] std::span<const Decision> recorded() const noexcept { return recorded_; }
  [[nodiscard]] std::uint64_t draws() const noexcept { return draws_; }
  [[nodiscard]] std::uint64_t picks() const noexcept { return picks_; }
  [[nodiscard]] const Names& names() const noexcept { return names_; }
  /// The first of them, calm ones included, while naming().
  [[nodiscard]] const std::vector<PickRecord>& pick_records() const noexcept {
    return pick_records_;
  }
  static constexpr std::size_t kMostPickRecords = 10'000;
  /// Of every coroutine that was spawned while naming().
  [[nodiscard]] const Origins& origins() const noexcept { return origins_; }

 private:
  struct Question {
    Stream stream;
    std::uint64_t key;
    std::uint64_t bound;
    std::uint64_t subject;
    std::uint32_t occurrence;
  };

  void reset();
  void begin_strategy(std::uint64_t seed);
  [[nodiscard]] bool replaying() noexcept {
    if (replay_ == nullptr) return false;
    if (draws_ >= replayed_draws_) [[unlikely]] {
      replay_ = nullptr;
    }
    return replay_ != nullptr;
  }
  [[nodiscard]] Question ask(Stream stream, std::uint64_t subject, std::uint64_t bound);
  std::uint64_t answered(const Question& question, std::uint64_t value) {
    if (value != 0) record(question, value, false);
    ++draws_;
    return value;
  }
  void record(const Question& question, std::uint64_t value, bool is_pick);
  void keep_pick(std::uint32_t occurrence, std::size_t chosen, const Candidates& candidates);
  void keep_origin(std::uint64_t path, std::uint64_t parent, std::string_view name,
                   std::uint32_t occurrence);
  [[nodiscard]] Draw as_draw(const Question& question) const noexcept;
  [[nodiscard]] std::size_t replayed_pick(const Question& question, const Candidates& candidates);
  [[nodiscard]] std::size_t wished_pick(const Candidates& candidates);

  Strategy* strategy_;
  Replay* replay_ = nullptr;
  std::uint64_t replayed_draws_ = 0;
  Occurrences occurrences_;
  std::vector<Decision> recorded_;
  std::uint64_t draws_ = 0;
  std::uint64_t picks_ = 0;
  std::vector<Course> courses_;
  const Whereabouts* whereabouts_ = nullptr;
  FaultPoints* fault_points_ = nullptr;
  DecisionListener* listener_ = nullptr;
  bool naming_ = false;
  bool wants_steps_ = false;
  bool wants_uses_ = false;
  Names names_;
  std::vector<PickRecord> pick_records_;
  Origins origins_;
  std::map<std::uint64_t, std::uint32_t> children_;  // How many each path has spawned.
};

}  // namespace fermata::sim
