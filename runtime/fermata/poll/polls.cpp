// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/polls.hpp"

#include "fermata/poll/native_mask.hpp"

namespace fermata::poll::detail {

class Polls::WatchedPoll final : public os::DescriptorPoll, private Watcher {
 public:
  WatchedPoll(Polls& polls, int descriptor)
      : DescriptorPoll(polls, descriptor), Watcher(Owner::User), watches_(polls.watches_) {
    watches_.require_within_limit(descriptor);
  }

 private:
  void watch(PollMask mask) override { watches_.watch(*this, descriptor(), mask); }
  void unwatch() noexcept override { watches_.unwatch(*this, descriptor()); }

  PollMask look(PollMask told) const noexcept override {
    return watches_.tells_hang_ups() ? told : ready_now(descriptor(), armed());
  }
  void on_ready(PollMask mask) noexcept override { dispatch(mask); }

  Watches& watches_;
};

Ref<Poll> Polls::make(int descriptor) {
  return Ref<Poll>::adopt(*new WatchedPoll(*this, descriptor));
}

}  // namespace fermata::poll::detail
