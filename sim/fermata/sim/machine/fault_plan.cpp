// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/machine/fault_plan.hpp"

#include <fmt/format.h>

#include <iterator>

#include "fermata/sim/base/counted.hpp"

namespace fermata::sim::detail {

namespace {
constexpr Odds kOdds[] = {{1, 100}, {1, 25}, {1, 8}, {1, 2}};
constexpr std::uint64_t kPresentKey = key_of("present");
constexpr std::uint64_t kOddsKey = key_of("odds");
}  // namespace

FaultPlan::~FaultPlan() { decisions_.set_fault_points(nullptr); }

void FaultPlan::begin(FaultSet allowed, FaultListener* listener) noexcept {
  listener_ = listener;
  decisions_.set_fault_points(this);
  allowed_ = allowed;
  for (auto& [name, point] : points_) point = {};
  changed_.for_each([&](Fault fault) {
    kinds_[static_cast<std::size_t>(fault)] = {};
    counts_[static_cast<std::size_t>(fault)] = 0;
  });
  changed_ = FaultSet::none();
  stopped_ = false;
}

bool FaultPlan::strikes(std::string_view name) {
  if (stopped_) return false;
  auto known = points_.find(name);
  if (known == points_.end()) known = points_.emplace(name, Point()).first;
  Point& point = known->second;
  if (point.presence == Presence::Undecided) {
    decide(keys_of(name), allowed_.has(Fault::Point), point);
  }
  if (point.presence == Presence::Absent) return false;
  const std::uint64_t key = key_of(key_of(to_string(Fault::Point)), name);
  const auto tell = [&](const Decision&) {
    return fmt::format("the fault '{}' of the program strikes", name);
  };
  if (decisions_.draw_rarely(backend::RandomStream::Fault, key, 2, point.odds, tell) == 0)
    return false;
  ++point.struck;
  count(Fault::Point);
  return true;
}

void FaultPlan::count(Fault fault) {
  FERMATA_ASSERT(!stopped_);
  changed_.add(fault);
  ++counts_[static_cast<std::size_t>(fault)];
  if (listener_ != nullptr) listener_->struck(fault, decisions_.last_sentence());
}

FaultPlan::Keys FaultPlan::keys_of(std::string_view name) noexcept {
  const std::uint64_t key = key_of(name);
  return Keys{key_of(key, kPresentKey), key_of(key, kOddsKey)};
}

const FaultPlan::Keys& FaultPlan::keys_of(Fault fault) noexcept {
  static const std::array<Keys, kFaultCount> kKeys = [] {
    std::array<Keys, kFaultCount> keys;
    for (std::size_t i = 0; i < kFaultCount; ++i)
      keys[i] = keys_of(to_string(static_cast<Fault>(i)));
    return keys;
  }();
  return kKeys[static_cast<std::size_t>(fault)];
}

// A fault that strikes says that it may, so neither draw has a sentence.
void FaultPlan::decide(const Keys& keys, bool allowed, Kind& kind) {
  FERMATA_ASSERT(kind.presence == Presence::Undecided);
  kind.presence = Presence::Absent;
  if (!allowed) return;
  const auto unsaid = [](const Decision&) { return std::string(); };
  if (decisions_.draw(backend::RandomStream::Fault, keys.present, 2, unsaid) == 0) return;
  kind.presence = Presence::Present;
  kind.odds =
      kOdds[decisions_.draw(backend::RandomStream::Fault, keys.odds, std::size(kOdds), unsaid)];
  FERMATA_ASSERT(kind.odds.numerator > 0);
}

std::string FaultPlan::names_going() const {
  std::string names;
  const auto add = [&](std::string_view name, std::uint64_t struck) {
    if (struck == 0 || stopped_) return;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  };
  for (std::size_t i = 0; i < kFaultCount; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (fault != Fault::Point) add(to_string(fault), counts_[i]);
  }
  for (const auto& [name, point] : points_) add(name, point.struck);
  return names;
}

std::string FaultPlan::text() const {
  std::string text;
  const auto add = [&](std::string_view name, const Kind& kind, std::uint64_t struck) {
    if (kind.odds.numerator == 0 && struck == 0) return;
    if (kind.odds.numerator == 0) {  // Somebody has planned it.
      text += fmt::format("{}: struck {}\n", name, counted(struck, "time"));
      return;
    }
    text += fmt::format("{}, {} in {}: struck {}\n", name, kind.odds.numerator,
                        kind.odds.denominator, counted(struck, "time"));
  };
  for (std::size_t i = 0; i < kFaultCount; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (fault != Fault::Point) add(to_string(fault), kinds_[i], counts_[i]);
  }
  for (const auto& [name, point] : points_) add(name, point, point.struck);
  return text;
}

}  // namespace fermata::sim::detail
