// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/thread_channel_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::detail {

namespace {

[[noreturn]] void throw_closed() { throw ThreadChannelError("ThreadChannel is closed"); }

}  // namespace

/// What one waits for who sends, or receives.
class ThreadChannelCore::Side final : public backend::WaitSubject {
 public:
  Side(const ThreadChannelCore& channel, bool sends) noexcept : channel_(channel), sends_(sends) {}
  void explain_wait(backend::WaitFacts& facts) const override { channel_.explain(facts, sends_); }

 private:
  const ThreadChannelCore& channel_;
  bool sends_;
};

ThreadChannelCore::ThreadChannelCore(std::size_t capacity, const SourcePlace& place)
    : capacity_(capacity), place_(place) {
  FERMATA_REQUIRE(capacity > 0, "ThreadChannel: expected a capacity of at least 1, got 0");
}

void ThreadChannelCore::close() noexcept {
  const Lock held = lock();
  if (closed_) return;
  closed_ = true;
  senders_.fail_all();
  if (size_ == 0) receivers_.fail_waiting();
}

bool ThreadChannelCore::is_closed() const {
  const Lock held = lock();
  return closed_;
}

std::size_t ThreadChannelCore::size() const {
  const Lock held = lock();
  return size_;
}

bool ThreadChannelCore::has_slot() const {
  if (closed_) throw_closed();
  return size_ + senders_.granted() < capacity_;
}

bool ThreadChannelCore::has_value() const {
  if (closed_ && size_ == 0) throw_closed();
  FERMATA_ASSERT(size_ <= capacity_);
  return size_ > receivers_.granted();
}

void ThreadChannelCore::await_slot(Lock& held, const WaitOptions& options,
                                   const SourcePlace& place) {
  if (!has_slot()) await(held, senders_, "ThreadChannel send", options, place);
}

void ThreadChannelCore::await_value(Lock& held, const WaitOptions& options,
                                    const SourcePlace& place) {
  if (!has_value()) await(held, receivers_, "ThreadChannel recv", options, place);
}

void ThreadChannelCore::await(Lock& held, ThreadLine& line, const char* what,
                              const WaitOptions& options, const SourcePlace& place) {
  FERMATA_ASSERT(held.owns_lock());
  try {
    const Side side(*this, &line == &senders_);
    if (line.wait(held, what, side, options, place) == ThreadLine::Turn::Failed) throw_closed();
  } catch (...) {
    keep_promises();
    throw;
  }
}

// Another thread may have the lock, and is not waited for.
void ThreadChannelCore::explain(backend::WaitFacts& facts, bool sends) const {
  facts.is("thread channel", {}, &place_);
  facts.stands_for(this);
  facts.wanted(sends ? "send" : "receive");
  const std::unique_lock held(mutex_, std::try_to_lock);
  if (!held.owns_lock()) return;
  facts.state(size_ == 0 ? "empty" : fmt::format("{} of {}", size_, capacity_));
  for (const Dealings& each : dealings_) {
    if (sends ? each.received : each.sent) {
      facts.in_hands_of(each.person, sends ? "received by" : "sent to by");
    }
  }
}

void ThreadChannelCore::note(bool Dealings::*deed) {
  backend::WaitPerson person = backend::WaitPerson::present();
  if (person.runtime == nullptr) return;
  auto known = std::find_if(dealings_.begin(), dealings_.end(), [&](const Dealings& each) {
    return each.person.runtime == person.runtime && each.person.coroutine == person.coroutine;
  });
  if (known == dealings_.end()) known = dealings_.insert(known, Dealings{std::move(person)});
  (*known).*deed = true;
}

void ThreadChannelCore::stored() noexcept {
  note(&Dealings::sent);
  FERMATA_ASSERT(size_ < capacity_);
  ++size_;
  keep_promises();
}

void ThreadChannelCore::taken() noexcept {
  note(&Dealings::received);
  FERMATA_ASSERT(size_ > 0);
  --size_;
  keep_promises();
  if (closed_ && size_ == 0) receivers_.fail_waiting();
}

void ThreadChannelCore::keep_promises() noexcept {
  while (receivers_.waiting() > 0 && size_ > receivers_.granted()) receivers_.grant();
  while (!closed_ && senders_.waiting() > 0 && size_ + senders_.granted() < capacity_) {
    senders_.grant();
  }
}

}  // namespace fermata::detail
