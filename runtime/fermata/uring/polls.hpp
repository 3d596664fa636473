// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/os/epoll_polls.hpp"
#include "fermata/uring/loop.hpp"

namespace fermata::uring::detail {

/// Descriptors that users bring. An operation of the ring would keep the file of one open that its
/// user closes.
class Polls final : public os::EpollPolls {
 public:
  explicit Polls(Loop& loop) : EpollPolls(loop.attachment()), loop_(loop) {}

 private:
  void before_report() noexcept override { loop_.fire_timers(); }
  void need_watch() override {
    if (!watch_.is_in_flight()) start_watch();
  }

  void start_watch() noexcept { loop_.start_poll(watch_, set().descriptor()); }

  void ready(int, std::uint32_t) noexcept {
    for (const os::EpollSet::Found& found : set().look(Instant{}).found) tell(found);
    if (set().must_be_rebuilt()) set().rebuild();
    start_watch();
  }

  Loop& loop_;
  OperationOf<Polls, &Polls::ready> watch_{*this};
};

}  // namespace fermata::uring::detail
