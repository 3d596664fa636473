// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/poll.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/wait_facts.hpp"

namespace fermata {

std::string to_string(PollMask mask) {
  std::string text;
  const auto append = [&](PollMask bit, const char* name) {
    if (!any(mask & bit)) return;
    if (!text.empty()) text += '|';
    text += name;
  };
  append(PollMask::Readable, "READABLE");
  append(PollMask::Writable, "WRITABLE");
  append(PollMask::Disconnect, "DISCONNECT");
  append(PollMask::Prioritized, "PRIORITIZED");
  return text.empty() ? "NONE" : text;
}

namespace backend {

// --- PollProxy ---

PollProxy::PollProxy(Poll& poll, PollMask events)
    : Event(poll.runtime(), EventKind::PollProxy), poll_(Ref<Poll>::share(poll)), events_(events) {
  FERMATA_REQUIRE(any(events), "poll: expected at least one kind of readiness to wait for");
}

PollProxy::~PollProxy() { shut(); }

void PollProxy::arm() { poll_->join(*this); }

void PollProxy::disarm() noexcept { poll_->leave(*this); }

void PollProxy::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  poll_->explain_descriptor(facts);
  facts.wanted(to_string(events_));
}

std::string PollProxy::info() const {
  return fmt::format("PollProxy #{} (descriptor={}, {})", serial(), poll_->descriptor(),
                     to_string(events_));
}

// --- Poll ---

Poll::Poll(Polls& polls, int descriptor)
    : Handle(polls.attachment_, EventKind::Poll), polls_(polls), descriptor_(descriptor) {}

Poll::~Poll() { shut(); }

std::string Poll::info() const {
  return fmt::format("Poll #{} (descriptor={}, {})", serial(), descriptor_, to_string(armed_));
}

void Poll::explain_descriptor(WaitFacts& facts) const {
  facts.is("descriptor", fmt::to_string(descriptor_), made_at());
  facts.outside("its other end");
}

PollMask Poll::wanted() const noexcept {
  PollMask mask = PollMask::None;
  for (const PollProxy* proxy = proxies_.first(); proxy != nullptr;
       proxy = PollProxy::List::after(*proxy)) {
    mask |= proxy->events_;
  }
  return mask;
}

bool Poll::proxies_ask_for_file() const noexcept {
  const PollProxy* proxy = proxies_.first();
  while (proxy != nullptr && proxy->asks_for_file_) proxy = PollProxy::List::after(*proxy);
  return proxy == nullptr;
}

void Poll::set_armed(PollMask mask) {
  FERMATA_ASSERT(any(mask));
  if (mask == armed_) return;
  arm_mask(mask);
  armed_ = mask;
}

void Poll::require_same_file() const {
  if (!retired_ && same_file()) return;
  throw PollError(fmt::format("watch descriptor {}: it was closed", descriptor_), EBADF);
}

void Poll::retire() {
  FERMATA_ASSERT(!retired_);
  leave_table();
  retired_ = true;
  ready(PollMask::Disconnect);
}

void Poll::join(PollProxy& proxy) {
  if (is_closed()) throw PollError(fmt::format("descriptor {}: its watch is closed", descriptor_));
  if (retired_) require_same_file();
  proxies_.push_back(proxy);
  try {
    set_armed(wanted());
    if (loop_ref_count() == 0) start();
  } catch (...) {
    proxies_.remove(proxy);
    throw;
  }
  FERMATA_ASSERT(loop_ref_count() == 1);
}

void Poll::leave(PollProxy& proxy) noexcept {
  proxies_.remove(proxy);
  if (loop_ref_count() == 0) return;  // It ended; only a start arms it again.
  const PollMask mask = wanted();
  if (!any(mask)) return stop();
  try {
    set_armed(mask);
  } catch (const PollError&) {  // The descriptor is gone: the backend reports that to the others.
  }
}

void Poll::disarm() noexcept {
  FERMATA_ASSERT(loop_ref_count() == 0);
  if (std::exchange(armed_, PollMask::None) != PollMask::None) disarm_mask();
}

void Poll::ready(PollMask mask, std::exception_ptr error) {
  const auto keep = Ref<Poll>::share(*this);
  const bool terminal = any(mask & PollMask::Disconnect) || error;
  while (terminal && loop_ref_count() > 0) stop();
  FERMATA_ASSERT(!terminal || armed_ == PollMask::None);
  const Outcome outcome{this, std::move(error)};
  proxies_.dispatch([&](PollProxy& proxy) {
    const PollMask triggered = terminal ? mask : mask & proxy.events_;
    if (!any(triggered) && !outcome.error) return;
    proxy.triggered_ = triggered;
    try {
      proxy.notify(outcome);
    } catch (...) {
      runtime().report_unhandled(std::current_exception());
    }
  });
}

void Poll::leave_table() noexcept {
  if (retired_) return;
  const auto found = polls_.by_descriptor_.find(descriptor_);
  FERMATA_ASSERT(found != polls_.by_descriptor_.end());
  FERMATA_ASSERT(found->second == this);
  polls_.by_descriptor_.erase(found);
}

void Poll::fail_parked() {
  FERMATA_ASSERT(is_closed());
  leave_table();
  ready(PollMask::Disconnect, std::make_exception_ptr(PollError(fmt::format(
                                  "descriptor {}: its watch was closed", descriptor_))));
}

// --- Polls ---

Ref<Poll> Polls::open(int descriptor) {
  const auto found = by_descriptor_.find(descriptor);
  if (found != by_descriptor_.end()) {
    if (found->second->same_file()) return Ref<Poll>::share(*found->second);
    found->second->retire();
  }
  Ref<Poll> poll = make(descriptor);
  FERMATA_ASSERT(poll->descriptor() == descriptor);
  by_descriptor_.emplace(descriptor, poll.get());
  return poll;
}

}  // namespace backend

}  // namespace fermata
