// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/polls.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/wait_facts.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/world/program.hpp"

namespace fermata::sim::detail {

namespace {

constexpr Duration kRound = std::chrono::microseconds(1);
constexpr Duration kLeastWait = std::chrono::microseconds(10);
constexpr std::uint64_t kWaits = 12;  // Each twice the one before.

/// Never() when the fault does not strike. `does` returns what it does, for people.
template <class Name>
Instant drawn_time(Program& program, Fault fault, std::uint64_t key, const Name& does) {
  const auto tell = [&](const Decision& decision) {
    return fmt::format("{} after {}", does(), amount(kLeastWait * (1 << decision.value)));
  };
  const std::uint64_t drawn =
      program.faults().strength(fault, backend::RandomStream::Time, key, kWaits, tell);
  return drawn == 0 ? Instant::never() : program.now() + kLeastWait * (1 << drawn);
}

/// What of `wanted` it is ready for; a hang-up and an error in any case.
PollMask mask_of(Readiness ready, PollMask wanted) noexcept {
  PollMask mask = PollMask::None;
  if ((ready & EPOLLIN) != 0) mask |= PollMask::Readable;
  if ((ready & EPOLLOUT) != 0) mask |= PollMask::Writable;
  if ((ready & EPOLLRDHUP) != 0) mask |= PollMask::Disconnect;
  if ((ready & EPOLLPRI) != 0) mask |= PollMask::Prioritized;
  mask = mask & wanted;
  return (ready & kAlwaysTold) != 0 ? mask | PollMask::Disconnect : mask;
}

}  // namespace

// --- SimPoll ---

SimPoll::SimPoll(SimPolls& polls, Program& program, int descriptor)
    : backend::Poll(polls, descriptor),
      polls_(polls),
      program_(program),
      key_(0),
      report_(*this),
      false_alarm_(*this) {
  Description* const opened = polls.table_.find(descriptor);
  if (opened == nullptr) throw PollError(fmt::format("watch descriptor {}", descriptor), EBADF);
  if (!opened->can_be_watched()) {
    throw PollError(fmt::format(
        "watch descriptor {}: expected a socket, a pipe or a device, got a regular file",
        descriptor));
  }
  file_ = opened->weak_from_this();
  key_ = opened->key();
}

std::shared_ptr<Description> SimPoll::file() const noexcept {
  std::shared_ptr<Description> found = file_.lock();
  if (found.get() != polls_.table_.find(descriptor())) return nullptr;
  return found;
}

void SimPoll::arm_mask(PollMask mask) {
  require_same_file();
  const std::shared_ptr<Description> watched = file();
  polls_.table_.looks_at(*watched);
  if (!std::exchange(watches_, true)) watched->add(*this);
  if (wanted_ == PollMask::None) {
    ++polls_.armed_;
    plan_false_alarm();
  }
  wanted_ = mask;
  look();
}

void SimPoll::stop_watching() noexcept {
  if (!std::exchange(watches_, false)) return;
  const std::shared_ptr<Description> watched = file_.lock();
  FERMATA_ASSERT(watched != nullptr);  // Else it would have told that it goes.
  watched->remove(*this);
}

// A number that is closed is told as gone, also where a duplicate keeps the description.
void SimPoll::gone(Description&) {
  FERMATA_ASSERT(watches_);
  watches_ = false;
  look();
}

void SimPoll::disarm_mask() noexcept {
  if (std::exchange(wanted_, PollMask::None) == PollMask::None) return;
  FERMATA_ASSERT(polls_.armed_ > 0);
  --polls_.armed_;
  stop_watching();
  report_.cancel();
  false_alarm_.cancel();
  set_tells_again(false);
}

void SimPoll::close_backend() noexcept {
  if (closes_descriptor() && same_file()) polls_.table_.close(descriptor());
  close_acknowledged();
}

void SimPoll::explain_descriptor(backend::WaitFacts& facts) const {
  const std::shared_ptr<Description> watched = file();
  if (watched == nullptr) return backend::Poll::explain_descriptor(facts);
  facts.is("descriptor", {}, &polls_.table_.entry(descriptor()).made_at);  // Its number is known.
  facts.state(watched->state());
  facts.outside(watched->maker());
}

// --- telling ---

PollMask SimPoll::readiness() const noexcept {
  const std::shared_ptr<Description> watched = file();
  return watched == nullptr ? PollMask::Disconnect : mask_of(watched->readiness(), wanted_);
}

void SimPoll::look(Readiness) {
  if (wanted_ == PollMask::None) return;
  if (!any(readiness())) {
    report_.cancel();
    set_tells_again(false);
  } else if (!report_.is_scheduled()) {
    program_.agenda().schedule(report_, program_.earliest_visible_time(), key_);
    set_tells_again(told_at_ == program_.now());
  }
}

void SimPoll::set_tells_again(bool value) noexcept {
  if (std::exchange(tells_again_, value) == value) return;
  if (value) {
    ++polls_.telling_again_;
  } else {
    FERMATA_ASSERT(polls_.telling_again_ > 0);
    --polls_.telling_again_;
  }
}

void SimPoll::tell() {
  set_tells_again(false);
  told_at_ = program_.now();
  const auto keep = Ref<backend::Poll>::share(*this);
  ready(readiness());
  look();
}

void SimPoll::plan_false_alarm() {
  FERMATA_ASSERT(!false_alarm_.is_scheduled());
  if (program_.faults().is_absent(Fault::SpuriousReadiness)) return;
  const Instant when =
      drawn_time(program_, Fault::SpuriousReadiness, key_of(key_, "spurious readiness"), [&] {
        return fmt::format("'{}' is told that descriptor {} is ready, true or not,",
                           program_.name(), descriptor());
      });
  if (when != Instant::never()) program_.agenda().schedule(false_alarm_, when, key_);
}

void SimPoll::tell_falsely() {
  constexpr PollMask kBoth = PollMask::Readable | PollMask::Writable;
  const auto keep = Ref<backend::Poll>::share(*this);
  if (any(wanted_ & kBoth)) ready(wanted_ & kBoth);
}

// --- SimPolls ---

SimPolls::SimPolls(fermata::detail::Attachment& attachment, Program& program)
    : backend::Polls(attachment),
      program_(program),
      wait_key_(key_of(program.key(), "interrupted wait")),
      table_(program),
      calls_(program, table_) {}

Ref<backend::Poll> SimPolls::make(int descriptor) {
  return Ref<backend::Poll>::adopt(*new SimPoll(*this, program_, descriptor));
}

void SimPolls::pass_round() {
  FERMATA_ASSERT(telling_again_ > 0);
  FERMATA_ASSERT(telling_again_ <= armed_);
  program_.advance(program_.now() + kRound);
}

Instant SimPolls::drawn_interruption() {
  FERMATA_ASSERT(armed_ > 0);
  if (program_.faults().is_absent(Fault::Interrupted)) return Instant::never();
  return drawn_time(program_, Fault::Interrupted, wait_key_, [&] {
    return fmt::format("a wait of '{}' for descriptors is interrupted", program_.name());
  });
}

}  // namespace fermata::sim::detail
