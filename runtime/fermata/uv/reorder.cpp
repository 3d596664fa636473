// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/reorder.hpp"

#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::uv::detail {

namespace {
constexpr int kTurnsMax = 4;  // That a completion waits.
constexpr Duration kLatenessMax = std::chrono::microseconds(500);
}  // namespace

// splitmix64
std::uint64_t Reorder::draw(std::uint64_t bound) noexcept {
  FERMATA_ASSERT(bound > 0);
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return (mixed ^ (mixed >> 31)) % bound;
}

void Reorder::watch(ReadySource& source) noexcept {
  if (!std::exchange(source.watched_, true)) sources_.push_back(source);
}

void Reorder::unwatch(ReadySource& source) noexcept {
  source.held_ = false;
  if (std::exchange(source.watched_, false)) sources_.remove(source);
}

bool Reorder::hold_some() noexcept {
  if (std::exchange(held_some_, false)) return false;
  for (auto* source = sources_.first(); source != nullptr;
       source = ReadySource::List::after(*source)) {
    if (draw(3) != 0) continue;
    FERMATA_ASSERT(!source->held_);
    source->held_ = held_some_ = true;
    source->hold();
  }
  return held_some_;
}

void Reorder::release_all() noexcept {
  if (!held_some_) return;
  for (auto* source = sources_.first(); source != nullptr;
       source = ReadySource::List::after(*source)) {
    if (std::exchange(source->held_, false)) source->resume();
  }
}

void Reorder::defer(std::function<void()> completion) {
  FERMATA_ASSERT(completion != nullptr);
  deferred_.push_back({std::move(completion)});
}

void Reorder::run_some() {
  std::vector<Deferred> batch = std::exchange(deferred_, {});
  for (std::size_t left = batch.size(); left > 0; --left) {
    std::swap(batch[left - 1], batch[draw(left)]);
    Deferred& next = batch[left - 1];
    FERMATA_ASSERT(next.completion != nullptr);
    FERMATA_ASSERT(next.turns <= kTurnsMax);
    if (next.turns < kTurnsMax && draw(3) == 0) {
      ++next.turns;
      deferred_.push_back(std::move(next));
    } else {
      next.completion();
    }
  }
}

Duration Reorder::lateness() noexcept {
  if (draw(2) == 0) return Duration::zero();
  return Duration(
      static_cast<std::int64_t>(draw(static_cast<std::uint64_t>(kLatenessMax.count()) + 1)));
}

}  // namespace fermata::uv::detail
