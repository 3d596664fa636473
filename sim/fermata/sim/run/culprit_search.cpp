// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/culprit_search.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim {
namespace {

class Search {
 public:
  Search(const Program& program, const WorldOptions& options, const Tape& tape,
         const CulpritLimits& limits)
      : program_(program),
        options_(options),
        tape_(tape),
        limits_(limits),
        runner_(program, "random", limited(options, limits.steps_of_run)) {}

  Culprit find() {
    if (count_shown(tape_) == 0) return std::move(culprit_);
    reseed();
    culprit_.decision = most_decisive();
    flip();
    FERMATA_ASSERT(culprit_.runs > 0);
    return std::move(culprit_);
  }

 private:
  static constexpr std::uint64_t kSeeds = 20;
  static constexpr std::uint64_t kFewestSeeds = 4;
  /// The factor within which two decisions count as equal. Of two that matter alike the later one
  /// has the steeper rise: from half of the runs to all, where the first one has led from a quarter
  /// to half.
  static constexpr std::uint64_t kAboutAsGood = 2;

  static WorldOptions limited(WorldOptions options, std::uint64_t steps) {
    options.step_limit = std::min(options.step_limit, steps);
    return options;
  }

  void reseed() {
    const std::uint64_t points = tape_.decisions.size() + 1;
    const std::uint64_t seeds =
        std::min(kSeeds, (std::max<std::uint64_t>(limits_.runs, 1) - 1) / points);
    if (seeds < kFewestSeeds) return;
    for (std::size_t kept = 0; kept < points; ++kept) {
      Share share;
      while (share.runs < seeds && steps_ < limits_.steps) {
        share.failed += fails_after(kept, share.runs) ? 1u : 0u;
        ++share.runs;
      }
      if (share.runs < seeds) return culprit_.reseeded.clear();
      FERMATA_ASSERT(share.failed <= share.runs);
      culprit_.reseeded.push_back(share);
    }
  }

  /// Whether a run fails that keeps the first `kept` decisions and all that was calm before them.
  bool fails_after(std::size_t kept, std::uint64_t variant) {
    FERMATA_ASSERT(kept <= tape_.decisions.size());
    const std::uint64_t draws = kept == 0 ? 0 : tape_.decisions[kept - 1].index + 1;
    Replay replay(tape_.decisions, 0, {}, ReplayMode::Best);
    const RunResult result =
        runner_.replay_then_explore(preparation(), replay, draws, key_of(tape_.seed, variant));
    note(result);
    return result.signature() == tape_.signature;
  }

  /// The one after which the share of failures has risen most; of equal ones the last. What the
  /// program has drawn itself is named only when nothing else is about as good: it says on which
  /// data the program fails, and another decision says how.
  [[nodiscard]] std::size_t most_decisive() const {
    FERMATA_ASSERT(!tape_.decisions.empty());
    const auto is_shown = [&](const Decision& each) {
      return !goes_without_saying(each, tape_.names);
    };
    const std::size_t best = steepest(is_shown).value();
    if (!is_programs_own(tape_.decisions[best])) return best;
    FERMATA_ASSERT(!tape_.decisions[best].is_pick);
    const auto other =
        steepest([&](const Decision& each) { return is_shown(each) && !is_programs_own(each); });
    FERMATA_ASSERT(!other || rise(*other) <= rise(best));
    return other && rise(best) <= kAboutAsGood * rise(*other) ? *other : best;
  }

  static bool is_programs_own(const Decision& decision) noexcept {
    return decision.stream == backend::RandomStream::Workload;
  }

  /// How many more of the runs fail after a decision than before; 0 when it is not known.
  [[nodiscard]] std::uint64_t rise(std::size_t decision) const {
    if (culprit_.reseeded.empty()) return 0;
    FERMATA_ASSERT(decision + 1 < culprit_.reseeded.size());
    const std::uint64_t before = culprit_.reseeded[decision].failed;
    const std::uint64_t after = culprit_.reseeded[decision + 1].failed;
    return after > before ? after - before : 0;
  }

  template <class Fits>
  [[nodiscard]] std::optional<std::size_t> steepest(Fits fits) const {
    std::optional<std::size_t> best;
    for (std::size_t i = tape_.decisions.size(); i-- > 0;) {
      if (fits(tape_.decisions[i]) && (!best || rise(i) > rise(*best))) best = i;
    }
    return best;
  }

  void flip() {
    FERMATA_ASSERT(culprit_.decision.has_value());
    std::vector<Decision> rest = tape_.decisions;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(*culprit_.decision));
    Replay replay(std::move(rest), 0, {}, ReplayMode::Best);
    Runner to_the_end(program_, "random", options_);
    to_the_end.set_recording(true);
    const RunResult result = to_the_end.replay(preparation(), replay);
    note(result);
    if (!result.failure) culprit_.passing = to_the_end.run_log();
  }

  void note(const RunResult& result) noexcept {
    ++culprit_.runs;
    steps_ += result.steps;
  }

  [[nodiscard]] Preparation preparation() const { return {tape_.seed, tape_.rapidcheck}; }

  const Program& program_;
  const WorldOptions& options_;
  const Tape& tape_;
  CulpritLimits limits_;
  Runner runner_;
  std::uint64_t steps_ = 0;
  Culprit culprit_;
};

}  // namespace

Culprit find_culprit(const Program& program, const WorldOptions& options, const Tape& tape,
                     const CulpritLimits& limits) {
  return Search(program, options, tape, limits).find();
}

}  // namespace fermata::sim
