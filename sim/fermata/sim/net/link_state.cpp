// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/link_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

namespace {

constexpr Duration kWithinNode = std::chrono::microseconds(20);
constexpr Duration kBetweenNodes = std::chrono::microseconds(250);
/// After which TCP sends again what was lost.
constexpr Duration kRepetition = std::chrono::milliseconds(200);
constexpr Duration kShortestFault = std::chrono::milliseconds(1);
constexpr std::uint64_t kFaultLengths = 14;  // Each twice the one before; the longest is 8 s.
constexpr unsigned kTailDoublings = 16;

/// What a partition separates.
enum class Split : std::uint64_t { BothWays, OneWay, WholeMachine };  // That which sends.
constexpr std::uint64_t kSplits = 3;

Latency default_latency(const Machine& from, const Machine& to) {
  return Latency::fixed(&from == &to ? kWithinNode : kBetweenNodes);
}

}  // namespace

LinkState::LinkState(Links& links, Machine& from, Machine& to)
    : links_(links),
      from_(from),
      to_(to),
      key_(key_of(from.key(), to.key())),
      clog_key_(key_of(key_, to_string(Fault::Clog))),
      partition_key_(key_of(key_, to_string(Fault::Partition))),
      latency_key_(key_of(key_, "latency")),
      latency_(default_latency(from, to)) {}

// --- what is sent now ---

Instant LinkState::arrival(std::size_t bytes) {
  meet_faults();
  if (is_closed()) return Instant::never();
  const Instant now = from_.now();
  const Instant through = losing_until_ > now ? losing_until_ + kRepetition : now;
  return carried(std::max(through, clogged_until_), bytes);
}

LinkState::Passage LinkState::passage(std::size_t bytes) {
  meet_faults();
  const Instant now = from_.now();
  if (cut_ || losing_until_ > now) return {true, {}};
  if (held_) return {false, Instant::never()};
  return {false, carried(std::max(now, clogged_until_), bytes)};
}

Instant LinkState::carried(Instant when, std::size_t bytes) {
  if (bytes_per_second_ != 0) {
    constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
    const std::uint64_t on_the_line = bytes * kNanosecondsPerSecond / bytes_per_second_;
    line_free_ = std::max(line_free_, when) + Duration(on_the_line);
    when = line_free_;
  }
  const Duration latency = drawn_latency();
  FERMATA_ASSERT(latency >= least_latency());
  return when + latency;
}

Duration LinkState::drawn_latency() {
  if (latency_.shape_ == Latency::Shape::Fixed) return latency_.least_;
  const auto draw = [&](std::uint64_t bound) {
    const std::uint64_t key = from_.decisions().named(
        latency_key_, [&] { return fmt::format("latency {} -> {}", from_.name(), to_.name()); });
    return from_.decisions().draw(RandomStream::Network, key, bound);
  };
  if (latency_.shape_ == Latency::Shape::Uniform) {
    FERMATA_ASSERT(latency_.most_ >= latency_.least_);
    const auto spread = static_cast<std::uint64_t>((latency_.most_ - latency_.least_).count());
    return latency_.least_ + Duration(draw(spread + 1));
  }
  const int doublings = std::countr_one(draw(std::uint64_t{1} << kTailDoublings));
  return std::min(latency_.least_ * (std::int64_t{1} << doublings), latency_.most_);
}

// --- faults ---

void LinkState::meet_faults() {
  const Instant now = from_.now();
  if (&from_ == &to_ || clogged_until_ > now || losing_until_ > now) return;
  FaultPlan& faults = from_.faults();
  const auto strength = [&](Fault fault, std::uint64_t key, std::uint64_t bound) {
    from_.decisions().named(key, [&] {
      return fmt::format("{} {} -> {}", to_string(fault), from_.name(), to_.name());
    });
    return faults.strength(fault, RandomStream::Network, key, bound);
  };
  if (const auto length = strength(Fault::Clog, clog_key_, kFaultLengths)) {
    clog(kShortestFault * (1 << length));
  }
  if (const auto drawn = strength(Fault::Partition, partition_key_, kSplits * kFaultLengths)) {
    partition(drawn);
  }
}

void LinkState::partition(std::uint64_t drawn) {
  FERMATA_ASSERT(drawn != 0);
  FERMATA_ASSERT(&from_ != &to_);
  const Duration length = kShortestFault * (1 << (drawn / kSplits));
  switch (static_cast<Split>(drawn % kSplits)) {
    case Split::WholeMachine:
      return links_.isolate(from_, length);
    case Split::BothWays:
      links_.between(to_, from_).lose(length);
      [[fallthrough]];
    case Split::OneWay:
      return lose(length);
  }
}

// --- what is done to it ---

void LinkState::cut() {
  if (!std::exchange(cut_, true)) tell("partition", "cut");
}

void LinkState::mend() {
  if (!std::exchange(cut_, false)) return;
  tell("heal", "mended");
  if (!held_) links_.reopened(*this, from_.world_now() + kRepetition);
}

void LinkState::hold() {
  if (!std::exchange(held_, true)) tell("hold", "keeps what is sent");
}

void LinkState::release() {
  if (!std::exchange(held_, false)) return;
  tell("heal", "released");
  if (!cut_) links_.reopened(*this, from_.world_now());
}

void LinkState::clog(Duration time) {
  FERMATA_ASSERT(time >= Duration::zero());
  clogged_until_ = std::max(clogged_until_, from_.world_now() + time);
  tell("clog", "keeps what is sent for a while", clogged_until_);
}

void LinkState::lose(Duration time) {
  FERMATA_ASSERT(time > Duration::zero());
  losing_until_ = std::max(losing_until_, from_.world_now() + time);
  tell("partition", "nothing gets through for a while", losing_until_);
}

void LinkState::tell(const char* kind, const char* what, std::optional<Instant> until) {
  if (from_.run_log() != nullptr) from_.record_incident(kind, what, &to_, until);
}

void LinkState::heal() {
  clogged_until_ = losing_until_ = {};
  release();
  mend();
  FERMATA_ASSERT(!is_closed());
}

}  // namespace fermata::sim::detail
