// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/os/descriptor_polls.hpp"
#include "fermata/poll/native_mask.hpp"
#include "fermata/poll/watches.hpp"

namespace fermata::poll::detail {

/// Descriptors that users bring, in the backend.
class Polls final : public os::DescriptorPolls {
 public:
  explicit Polls(Watches& watches) : DescriptorPolls(watches.attachment()), watches_(watches) {}

 private:
  class WatchedPoll final : public os::DescriptorPoll, private Watcher {
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

  Ref<backend::Poll> make(int descriptor) override {
    return Ref<backend::Poll>::adopt(*new WatchedPoll(*this, descriptor));
  }
  void before_report() noexcept override { watches_.fire_timers(); }

  Watches& watches_;
};

}  // namespace fermata::poll::detail
