// SPDX-License-Identifier: Apache-2.0

// Who waits for a message leaves a promise in the mailbox. One whose time is over leaves it there,
// and a later message is given to it: nobody reads that.

#include <deque>

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

namespace {

class Mailbox {
 public:
  explicit Mailbox(Variant variant) : variant_(variant) {}

  void deliver(int message) {
    if (waiting_.empty()) return unread_.push_back(message);
    waiting_.front().complete(message);
    waiting_.pop_front();
  }

  /// Throws Timeout when none comes.
  int receive(Duration patience) {
    if (!unread_.empty()) {
      const int message = unread_.front();
      unread_.pop_front();
      return message;
    }
    const Promise<int> promise;
    waiting_.push_back(promise);
    try {
      return await(promise.future(), {.timeout = patience});
    } catch (const Timeout&) {
      if (promise.future().is_completed()) return promise.future().result();
      if (variant_ == Variant::Correct) give_up(promise.future());
      throw;
    }
  }

  [[nodiscard]] std::size_t unread() const { return unread_.size(); }

 private:
  void give_up(const Future<int>& mine) {
    std::erase_if(waiting_, [&](const Promise<int>& each) {
      return &each.future().event() == &mine.event();
    });
  }

  Variant variant_;
  std::deque<int> unread_;
  std::deque<Promise<int>> waiting_;
};

}  // namespace

FERMATA_APPLICATION(DeadWaiter) {
  Mailbox mailbox(variant);
  std::size_t received = 0;
  const auto reader = spawn("reader", [&] {
    try {
      mailbox.receive(3ms);
      ++received;
    } catch (const Timeout&) {
    }
  });
  const auto sender = spawn("sender", [&] {
    delay(1ms + random(4) * 1ms);
    mailbox.deliver(1);
  });
  spawn_bystanders(3);
  await(reader);
  await(sender);
  EXPECT_EQ(received + mailbox.unread(), 1u);
}

}  // namespace fermata::properties::zoo
