// SPDX-License-Identifier: Apache-2.0
#pragma once

// Answers draws from the decisions of an earlier run.
//
// Strict  Every decision must be asked for at its place among all draws. The first one that is not
//         is the divergence; everything after it is answered calmly.
// Best    Decisions are looked up by key wherever they are asked for; the rest is calm.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/sim/tape/decision.hpp"
#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

enum class ReplayMode : std::uint8_t { Strict, Best };

/// A decision that is not bound to a pick any more: let this coroutine run before its turn, after
/// so many picks where that would have been possible, so many times.
struct Wish {
  std::uint64_t path = 0;
  std::uint32_t skip = 0;
  std::uint32_t times = 1;
};

/// Where a strict replay left its tape.
struct Divergence {
  std::string expected;
  std::string got;
  Instant at;
  std::uint64_t step = 0;  // As Failure::step.
  std::string coroutine;

  /// One line for people.
  [[nodiscard]] std::string text() const;
};

class Replay {
 public:
  /// `names` are those of the run that took the decisions; `draws` how many draws it made.
  Replay(std::vector<Decision> decisions, std::uint64_t draws, KeyNames names, ReplayMode mode);

  /// From the first decision again, for a run that has these names and is there; both must outlive
  /// it. `whereabouts` may be null.
  void rewind(const KeyNames& names, const Whereabouts* whereabouts);

  /// The answer to `draw`.
  std::uint64_t answer(const Draw& draw);
  /// The index of the candidate that runs next, where `draw` is a pick.
  std::size_t pick(const Draw& draw, const Candidates& candidates);

  /// Beside the decisions, in the mode Best.
  void set_wishes(std::vector<Wish> wishes) { wishes_ = std::move(wishes); }

  /// The draw that was asked for where the tape has another, until explain_question(); not a pick.
  [[nodiscard]] const std::optional<Draw>& open_question() const noexcept { return question_; }
  /// `sentence` is what one of its answers would have done.
  void explain_question(const std::string& sentence);

  /// The run has ended.
  void finish(std::uint64_t draws);

  [[nodiscard]] ReplayMode mode() const noexcept { return mode_; }
  [[nodiscard]] const std::optional<Divergence>& divergence() const noexcept { return divergence_; }
  /// How many of the decisions that reports show were followed.
  [[nodiscard]] std::size_t matched() const noexcept { return matched_; }
  /// "412 of 415 decisions matched"; both numbers are of those that reports show.
  [[nodiscard]] std::string summary() const;

 private:
  /// The decision that answers `draw`; null for a calm answer.
  const Decision* find(const Draw& draw);
  const Decision* find_strictly(const Draw& draw);
  const Decision* find_by_key(const Draw& draw) const;
  /// The first candidate of a pick without a decision that is wished for; 0: none is.
  std::size_t wished_pick(const Candidates& candidates);
  bool wishes_for(std::uint64_t path);
  /// The decision found last cannot be followed: its coroutine is not a candidate.
  void reject(const Decision& decision, const Draw& draw);
  void diverge(std::string expected, std::string got);
  [[nodiscard]] std::string expectation(const Decision& decision) const;
  [[nodiscard]] std::string question(const Draw& draw) const;

  std::vector<Decision> decisions_;  // In the order of the run.
  std::vector<const Decision*> by_key_;
  std::vector<Wish> wishes_;
  std::vector<Wish> open_wishes_;  // Of the run in progress.
  std::uint64_t draws_;
  KeyNames names_;
  ReplayMode mode_;
  const KeyNames* run_names_ = nullptr;
  const Whereabouts* whereabouts_ = nullptr;
  std::size_t next_ = 0;     // Of a strict replay.
  std::size_t matched_ = 0;  // Of those that reports show.
  std::optional<Divergence> divergence_;
  std::optional<Draw> question_;
};

}  // namespace fermata::sim
