// SPDX-License-Identifier: Apache-2.0
#pragma once

// A descriptor that becomes ready when it is told to.

#include "fermata/core/runtime.hpp"
#include "fermata/reactor/poll.hpp"

namespace fermata::properties {

class FakePoll final : public backend::Poll {
 public:
  FakePoll(backend::Polls& polls, int descriptor) : backend::Poll(polls, descriptor) {}

  /// Becomes ready for what is watched for; for Disconnect in any case.
  void become(PollMask mask) {
    const PollMask seen = mask & (watched_ | PollMask::Disconnect);
    if (any(watched_) && any(seen)) ready(seen);
  }
  [[nodiscard]] PollMask watched() const noexcept { return watched_; }
  [[nodiscard]] bool same_file() const noexcept override { return true; }

 private:
  void arm_mask(PollMask mask) override { watched_ = mask; }
  void disarm_mask() noexcept override { watched_ = PollMask::None; }
  void close_backend() noexcept override { close_acknowledged(); }

  PollMask watched_ = PollMask::None;
};

class FakePolls final : public backend::Polls {
 public:
  explicit FakePolls(Runtime& runtime) : backend::Polls(at_) { at_.attach(runtime); }

  [[nodiscard]] Ref<FakePoll> open_fake(int descriptor) {
    const Ref<backend::Poll> poll = open(descriptor);
    return Ref<FakePoll>::share(static_cast<FakePoll&>(*poll));
  }

 private:
  Ref<backend::Poll> make(int descriptor) override {
    return Ref<backend::Poll>::adopt(*new FakePoll(*this, descriptor));
  }

  detail::Attachment at_;
};

}  // namespace fermata::properties
