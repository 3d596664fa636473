// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who answers the draws of a run. A strategy knows nothing of worlds, tapes and runtimes.
//
// Calm       Answer 0 is production's choice: first in, first out, least latency, no fault.
// Repeatable The answers depend on the seed, on the questions and on what `name()` tells, on
//            nothing else.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/core/chooser.hpp"
#include "fermata/core/coroutine.hpp"
#include "fermata/core/ready_queue.hpp"

namespace fermata::sim {

/// The coroutines of which one runs next, in production's order.
class Candidates {
 public:
  explicit Candidates(const fermata::detail::ReadyQueue& ready) noexcept
      : ready_(&ready), size_(ready.size()) {}
  explicit Candidates(std::span<const std::uint64_t> paths) noexcept
      : paths_(paths.data()), size_(paths.size()) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The stable identity of one.
  [[nodiscard]] std::uint64_t path(std::size_t index) const noexcept {
    return ready_ != nullptr ? (*ready_)[index].path() : paths_[index];
  }

 private:
  const fermata::detail::ReadyQueue* ready_ = nullptr;
  const std::uint64_t* paths_ = nullptr;
  std::size_t size_;
};

/// How often something happens that is not calm.
struct Odds {
  std::uint32_t numerator = 1;
  std::uint32_t denominator = 1;
};

/// The uses of one step. A use is the name of an object with the flags kWrote and kFresh; each name
/// occurs once, in ascending order.
struct Footprint {
  static constexpr std::uint64_t kWrote = 1;  // It may have changed.
  static constexpr std::uint64_t kFresh = 2;  // It was made in this step: no earlier one knows it.
  static constexpr std::uint64_t kFlags = kWrote | kFresh;

  std::span<const std::uint64_t> uses;
  /// It may have used anything else as well.
  bool everything = false;
};

/// What a strategy wants to know of each step: nothing, the coroutine, or also its uses.
enum class StepNews : std::uint8_t { None, Who, Footprints };

/// How far somebody came in a run on whose way something may strike: a machine that may crash, in
/// waits.
struct Course {
  std::uint64_t subject = 0;
  std::uint64_t length = 0;
  bool cut = false;  // It would have gone on.
};

/// Summary of a run, for strategies that learn.
struct RunSummary {
  /// Decisions about what runs next.
  std::uint64_t picks = 0;
  /// No earlier run of the exploration was like it.
  bool is_new = false;
  bool failed = false;
  /// One of each subject.
  std::span<const Course> courses = {};
};

/// The share of one of several strategies in an exploration, and what it found.
struct StrategyShare {
  std::string name;
  std::uint64_t runs = 0;
  std::uint64_t new_runs = 0;  // Unlike all before.
  std::uint64_t failures = 0;

  friend bool operator==(const StrategyShare&, const StrategyShare&) = default;
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  /// The name from which make_strategy creates this strategy again, with everything that it has
  /// learned.
  [[nodiscard]] virtual std::string name() const = 0;

  virtual void begin_run(std::uint64_t seed) = 0;

  /// The index of the candidate that runs next. REQUIRES: at least two.
  virtual std::size_t pick(const Candidates& candidates) = 0;

  /// A number in [0, bound), any number when `bound` is 0: uniform.
  virtual std::uint64_t draw(backend::RandomStream stream, std::uint64_t key,
                             std::uint64_t bound) = 0;

  /// Zero, except with `odds`: then uniform in [1, bound). REQUIRES: bound > 1.
  virtual std::uint64_t draw_rarely(backend::RandomStream stream, std::uint64_t key,
                                    std::uint64_t bound, Odds odds) = 0;

  /// Zero, except with `odds`: then a place in [1, bound) on the course of `subject`, uniform over
  /// those that it came to in an earlier run as far as that is known.
  virtual std::uint64_t draw_place(backend::RandomStream stream, std::uint64_t key,
                                   std::uint64_t subject, std::uint64_t bound, Odds odds) {
    constexpr std::uint64_t kGuess = 64;
    FERMATA_ASSERT(bound > 1);
    static_cast<void>(subject);
    return draw_rarely(stream, key, bound < kGuess ? bound : kGuess, odds);
  }

  /// A run is over; what it teaches holds from the next one on. Until then begin_run() begins the
  /// same run again.
  virtual void end_run(const RunSummary& run) { static_cast<void>(run); }

  /// How many of the finished runs each strategy had; empty when it was always this one.
  [[nodiscard]] virtual std::vector<StrategyShare> shares() const { return {}; }

  // --- steps: the code between two picks, or between two waits of one coroutine ---

  /// Asked when a run has begun.
  [[nodiscard]] virtual StepNews news() const { return StepNews::None; }
  /// The coroutine `parent` has spawned `child`. Only with news().
  virtual void spawned(std::uint64_t parent, std::uint64_t child) {
    static_cast<void>(parent), static_cast<void>(child);
  }
  /// A step of the coroutine `path` is over; 0: it was nobody's. What it used counts only when
  /// news() asks for footprints. Only with news().
  virtual void end_step(std::uint64_t path, const Footprint& footprint) {
    static_cast<void>(path), static_cast<void>(footprint);
  }

  // --- strategies that try one schedule after the other ---

  /// Whether the runs differ in nothing but their schedules: their seeds are then all the same.
  [[nodiscard]] virtual bool enumerates() const { return false; }
  /// No further run would show anything new.
  [[nodiscard]] virtual bool is_exhausted() const { return false; }
  /// The coverage as a sentence; empty when it cannot be stated.
  [[nodiscard]] virtual std::string coverage() const { return {}; }
};

}  // namespace fermata::sim
