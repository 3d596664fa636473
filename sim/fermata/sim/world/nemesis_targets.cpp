// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/nemesis_targets.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::uint64_t kTargetsKey = key_of("nemesis targets");
constexpr Odds kIsTarget = {1, 2};
constexpr std::uint64_t kOdds = 2;  // Strikes at a target come always, or one time in two.
constexpr std::uint64_t kWays = 1 << 20;
// Strikes that last as long as the run did would make it longer without end.
constexpr int kMostGrowth = 16;

}  // namespace

void NemesisTargets::allow(Fault kind, unsigned most) {
  FERMATA_ASSERT(!taken_);
  FERMATA_ASSERT(most > 0);
  // Partitions go in more ways than the others.
  kinds_.insert(kinds_.end(), kind == Fault::Partition ? 2 : 1, {.fault = kind, .most = most});
}

std::optional<NemesisTargets::Strike> NemesisTargets::came(std::uint64_t machine,
                                                           std::string_view mark, Duration age) {
  if (kinds_.empty()) return {};
  if (!taken_) {
    taken_ = decisions_.draw(backend::RandomStream::Fault, kTargetsKey, 2, unsaid) != 0;
  }
  if (!taken()) return {};
  auto found = marks_.find(mark);
  if (found == marks_.end()) found = marks_.emplace(mark, choose(mark)).first;
  Target& target = found->second;
  if (target.age == Duration::zero()) target.age = age;
  if (target.left == 0) return {};
  const std::uint64_t key = key_of(key_of(kTargetsKey, machine), mark);
  if (decisions_.draw_rarely(backend::RandomStream::Fault, key, 2, target.odds, unsaid) == 0) {
    return {};
  }
  --target.left;
  return Strike{.kind = target.kind,
                .way = {.number = target.way, .age = std::min(age, kMostGrowth * target.age)},
                .told = decisions_.last_told()};
}

NemesisTargets::Target NemesisTargets::choose(std::string_view mark) {
  FERMATA_ASSERT(taken());
  FERMATA_ASSERT(!kinds_.empty());
  const std::uint64_t key = key_of(kTargetsKey, mark);
  const std::uint64_t drawn = decisions_.draw_rarely(backend::RandomStream::Fault, key,
                                                     1 + kinds_.size() * kOdds, kIsTarget, unsaid);
  if (drawn == 0) return {};
  const Kind& kind = kinds_[(drawn - 1) / kOdds];
  return {.kind = kind.fault,
          .odds = {1, drawn % kOdds == 0 ? 2u : 1u},
          .left = kind.most,
          .way = decisions_.draw(backend::RandomStream::Fault, key_of(key, "way"), kWays, unsaid),
          .age = {}};
}

}  // namespace fermata::sim::detail
