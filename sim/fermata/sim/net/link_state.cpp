// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/link_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/amount.hpp"
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

Duration clog_length(std::uint64_t drawn) { return kShortestFault * (1 << drawn); }
Duration partition_length(std::uint64_t drawn) { return kShortestFault * (1 << (drawn / kSplits)); }

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

std::string LinkState::text() const { return fmt::format("{} -> {}", from_.name(), to_.name()); }

std::string LinkState::text(const Parcel& parcel) const {
  const std::string number = parcel.number == 0 ? "" : ordinal(parcel.number) + " ";
  return fmt::format("the {}{} {}", number, parcel.what, text());
}

Instant LinkState::arrival(std::size_t bytes, const Parcel& parcel) {
  if (may_meet_faults()) meet_faults();
  if (bytes > 0) came_to_send();
  if (is_closed()) return Instant::never();
  const Instant now = from_.now();
  const Instant through = losing_until_ > now ? losing_until_ + kRepetition : now;
  return carried(std::max(through, clogged_until_), bytes, parcel);
}

void LinkState::came_to_send() const {
  if (&from_ != &to_) from_.came(Occasion::Send, to_.name());
}

bool LinkState::gets_through() const noexcept {
  return !is_closed() && losing_until_ <= from_.world_now();
}

LinkState::Passage LinkState::passage(std::size_t bytes, const Parcel& parcel) {
  if (may_meet_faults()) meet_faults();
  came_to_send();
  const Instant now = from_.now();
  if (cut_ || losing_until_ > now) return {true, {}};
  if (held_) return {false, Instant::never()};
  return {false, carried(std::max(now, clogged_until_), bytes, parcel)};
}

Instant LinkState::carried(Instant when, std::size_t bytes, const Parcel& parcel) {
  if (bytes_per_second_ != 0) {
    constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
    const std::uint64_t on_the_line = bytes * kNanosecondsPerSecond / bytes_per_second_;
    line_free_ = std::max(line_free_, when) + Duration(on_the_line);
    when = line_free_;
  }
  const bool is_fixed = latency_.shape_ == Latency::Shape::Fixed;
  const Duration latency = is_fixed ? latency_.least_ : drawn_latency(parcel);
  FERMATA_ASSERT(latency >= least_latency());
  return when + latency;
}

Duration LinkState::drawn_latency(const Parcel& parcel) {
  const auto draw = [&](std::uint64_t bound, const auto& latency_of) {
    const auto tell = [&](const Decision& decision) {
      return fmt::format("{} takes {}", text(parcel), amount(latency_of(decision.value)));
    };
    return latency_of(
        from_.decisions().draw(backend::RandomStream::Network, latency_key_, bound, tell));
  };
  if (latency_.shape_ == Latency::Shape::Uniform) {
    FERMATA_ASSERT(latency_.most_ >= latency_.least_);
    const auto spread = static_cast<std::uint64_t>((latency_.most_ - latency_.least_).count());
    return draw(spread + 1, [&](std::uint64_t drawn) { return latency_.least_ + Duration(drawn); });
  }
  FERMATA_ASSERT(latency_.shape_ == Latency::Shape::HeavyTail);
  return draw(std::uint64_t{1} << kTailDoublings, [&](std::uint64_t drawn) {
    const std::int64_t times = std::int64_t{1} << std::countr_one(drawn);
    return std::min(latency_.least_ * times, latency_.most_);
  });
}

// --- faults ---

bool LinkState::may_meet_faults() const noexcept {
  const FaultPlan& faults = from_.faults();
  return &from_ != &to_ && (!faults.is_absent(Fault::Clog) || !faults.is_absent(Fault::Partition));
}

void LinkState::meet_faults() {
  FERMATA_ASSERT(&from_ != &to_);
  const Instant now = from_.now();
  if (clogged_until_ > now || losing_until_ > now) return;
  FaultPlan& faults = from_.faults();
  const auto tell_clog = [&](const Decision& decision) {
    return fmt::format("the link {} keeps all messages for {}", text(),
                       amount(clog_length(decision.value)));
  };
  if (const auto length = faults.strength(Fault::Clog, backend::RandomStream::Network, clog_key_,
                                          kFaultLengths, tell_clog)) {
    clog(clog_length(length));
  }
  const auto tell_partition = [&](const Decision& decision) {
    return partition_text(decision.value);
  };
  if (const auto drawn = faults.strength(Fault::Partition, backend::RandomStream::Network,
                                         partition_key_, kSplits * kFaultLengths, tell_partition)) {
    partition(drawn);
  }
}

std::string LinkState::partition_text(std::uint64_t drawn) const {
  FERMATA_ASSERT(drawn != 0);
  FERMATA_ASSERT(&from_ != &to_);
  const std::string time = amount(partition_length(drawn));
  switch (static_cast<Split>(drawn % kSplits)) {
    case Split::WholeMachine:
      return fmt::format("'{}' is cut off from all other machines for {}", from_.name(), time);
    case Split::BothWays:
      return fmt::format("'{}' and '{}' cannot reach each other for {}", from_.name(), to_.name(),
                         time);
    case Split::OneWay:
      break;
  }
  return fmt::format("nothing gets through {} for {}", text(), time);
}

void LinkState::partition(std::uint64_t drawn) {
  FERMATA_ASSERT(drawn != 0);
  FERMATA_ASSERT(&from_ != &to_);
  const Duration length = partition_length(drawn);
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
  if (std::exchange(cut_, true)) return;
  tell("partition", "cut");
  links_.worsened(*this);
}

void LinkState::mend() {
  if (!std::exchange(cut_, false)) return;
  tell("heal", "mended");
  if (!held_) links_.reopened(*this, from_.world_now() + kRepetition);
}

void LinkState::hold() {
  if (std::exchange(held_, true)) return;
  tell("hold", "keeps what is sent");
  links_.worsened(*this);
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
  links_.worsened(*this);
}

void LinkState::regain() {
  if (losing_until_ <= from_.world_now()) return;
  losing_until_ = from_.world_now();
  tell("heal", "gets through again");
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
