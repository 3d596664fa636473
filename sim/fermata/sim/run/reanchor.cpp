// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/reanchor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"

namespace fermata::sim {
namespace {

using DecisionList = std::vector<Decision>;

class Reanchoring {
 public:
  Reanchoring(const Program& program, const WorldOptions& options, const Tape& tape,
              const ReanchorLimits& limits)
      : limits_(limits), tape_(tape), runner_(program, "calm", options) {
    verdict_ = std::string_view(tape.signature).substr(0, tape.signature.find(':'));
    FERMATA_ASSERT(!verdict_.empty());
  }

  bool find() { return by_key() || by_origin() || shifted() || wished(); }

  /// The decisions of the run that was found.
  [[nodiscard]] const DecisionList& decisions() const noexcept { return found_; }
  [[nodiscard]] std::size_t matched() const noexcept { return matched_; }
  [[nodiscard]] std::uint64_t runs() const noexcept { return runs_; }
  [[nodiscard]] std::string summary() const {
    FERMATA_ASSERT(runs_ > 0);
    return fmt::format("{} of {} decisions matched{}", matched_, count_shown(tape_), how_);
  }

 private:
  bool spent() const noexcept { return runs_ >= limits_.runs || steps_ >= limits_.steps; }

  bool fails(const DecisionList& decisions, std::vector<Wish> wishes = {}) {
    Replay replay(decisions, 0, tape_.names, ReplayMode::Best);
    replay.set_wishes(std::move(wishes));
    const RunResult result = runner_.replay(Preparation{tape_.seed, tape_.rapidcheck}, replay);
    ++runs_;
    steps_ += result.steps;
    if (runs_ == 1) matched_ = replay.matched();
    FERMATA_ASSERT(matched_ <= tape_.decisions.size());
    if (!result.failure || to_string(result.failure->verdict) != verdict_) return false;
    const auto used = runner_.decisions().log().recorded();
    found_.assign(used.begin(), used.end());
    return true;
  }

  bool by_key() {
    runner_.set_recording(true);
    const bool found = fails(tape_.decisions);
    origins_ = runner_.decisions().names().origins();
    runner_.set_recording(false);
    return found;
  }

  // --- coroutines with other names ---

  /// Matches renamed coroutines by origin: a coroutine spawned by the same parent with the same
  /// number is the same one.
  bool by_origin() {
    renamed_ = tape_.decisions;
    for (Decision& decision : renamed_) {
      if (!decision.is_pick) continue;
      decision.subject = present_path(decision.subject);
      decision.value = present_path(decision.value);
      decision.key = key_of(topic_of(decision), decision.occurrence);
    }
    FERMATA_ASSERT(renamed_.size() == tape_.decisions.size());
    if (renamed_ == tape_.decisions || !fails(renamed_)) return false;
    how_ = "; found again with renamed coroutines";
    return true;
  }

  [[nodiscard]] std::uint64_t present_path(std::uint64_t path) const {
    const auto before = tape_.origins.find(path);
    if (before == tape_.origins.end() || origins_.contains(path)) return path;
    const Origin wanted{present_path(before->second.parent), before->second.number};
    const auto now = std::find_if(origins_.begin(), origins_.end(), [&](const auto& each) {
      return each.second == wanted && !tape_.origins.contains(each.first);
    });
    return now == origins_.end() ? path : now->first;
  }

  // --- picks that come earlier or later ---

  /// From one decision on, all on its topic come some picks earlier or later.
  bool shifted() {
    for (const std::int64_t by : {1, -1, 2, -2, 3, -3, 4, -4}) {
      for (std::size_t from = 0; from < renamed_.size() && !spent(); ++from) {
        if (!fails(shifted_from(from, by))) continue;
        how_ = "; found again with decisions at other picks";
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] DecisionList shifted_from(std::size_t from, std::int64_t by) const {
    FERMATA_ASSERT(from < renamed_.size());
    FERMATA_ASSERT(by != 0);
    DecisionList shifted = renamed_;
    const std::uint64_t topic = topic_of(renamed_[from]);
    for (std::size_t i = from; i < shifted.size(); ++i) {
      Decision& decision = shifted[i];
      if (topic_of(decision) != topic) continue;
      decision.occurrence = static_cast<std::uint32_t>(
          std::max<std::int64_t>(0, std::int64_t{decision.occurrence} + by));
      decision.key = key_of(topic, decision.occurrence);
    }
    return shifted;
  }

  // --- picks that have another coroutine first ---

  /// One or two picks are taken wherever they are possible, one also several times in a row; the
  /// other decisions stay.
  bool wished() {
    constexpr std::uint32_t kFarthest = 30;
    constexpr std::uint32_t kFarthestOfTwo = 12;
    constexpr std::uint32_t kMostTimes = 4;
    for (std::uint32_t times = 1; times <= kMostTimes; ++times) {
      for (std::size_t i = 0; i < renamed_.size(); ++i) {
        for (std::uint32_t skip = 0; skip < kFarthest && renamed_[i].is_pick; ++skip) {
          if (fails_with({{renamed_[i].value, skip, times}}, i, i)) return true;
        }
      }
    }
    for (std::size_t i = 0; i < renamed_.size(); ++i) {
      for (std::size_t j = i + 1; j < renamed_.size(); ++j) {
        if (!renamed_[i].is_pick || !renamed_[j].is_pick) continue;
        for (std::uint32_t at = 0; at < kFarthestOfTwo * kFarthestOfTwo; ++at) {
          const Wish first{renamed_[i].value, at / kFarthestOfTwo, 1};
          const Wish second{renamed_[j].value, at % kFarthestOfTwo, 1};
          if (fails_with({first, second}, i, j)) return true;
        }
      }
    }
    return false;
  }

  /// With these instead of the decisions `i` and `j`, which may be one.
  bool fails_with(std::vector<Wish> wishes, std::size_t i, std::size_t j) {
    FERMATA_ASSERT(!wishes.empty());
    FERMATA_ASSERT(i <= j);
    FERMATA_ASSERT(j < renamed_.size());
    if (spent()) return false;
    DecisionList rest;
    for (std::size_t k = 0; k < renamed_.size(); ++k) {
      if (k != i && k != j) rest.push_back(renamed_[k]);
    }
    if (!fails(rest, std::move(wishes))) return false;
    how_ = "; found again with decisions at other picks";
    return true;
  }

  ReanchorLimits limits_;
  const Tape& tape_;
  Runner runner_;
  std::string_view verdict_;
  Origins origins_;       // Of the program as it is now.
  DecisionList renamed_;  // The tape's, with coroutines as they are called now.
  DecisionList found_;
  std::size_t matched_ = 0;  // By key.
  std::uint64_t runs_ = 0;
  std::uint64_t steps_ = 0;
  std::string how_;
};

}  // namespace

std::optional<Reanchored> reanchor(const Program& program, const WorldOptions& options,
                                   const Tape& tape, const ReanchorLimits& limits) {
  Tape present = tape;
  Reanchored result;
  {
    Reanchoring search(program, options, tape, limits);
    if (!search.find()) return std::nullopt;
    present.decisions = search.decisions();
    result.summary = search.summary();
    result.matched = search.matched();
    result.runs = search.runs();
  }
  std::optional<FoundFailure> found = replay_closely(program, options, present);
  if (!found) return std::nullopt;
  result.found = std::move(*found);
  return result;
}

}  // namespace fermata::sim
