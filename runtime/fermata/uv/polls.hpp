// SPDX-License-Identifier: Apache-2.0
#pragma once

// Descriptors that users bring, in an epoll of our own that libuv watches as one descriptor: libuv
// never learns of them, so that one closed behind our back cannot make it abort.

#include "fermata/os/descriptor_polls.hpp"
#include "fermata/os/epoll_set.hpp"
#include "fermata/uv/loop.hpp"

namespace fermata::uv::detail {

class Polls final : public os::DescriptorPolls {
 public:
  explicit Polls(Loop& loop);
  ~Polls() override;

 private:
  class WatchedPoll;

  Ref<backend::Poll> make(int descriptor) override;
  void before_report() noexcept override { loop_.begin_callback(); }
  void start_watch();
  void collect() noexcept;

  Loop& loop_;
  os::EpollSet set_;
  uv_poll_t* watch_;  // Outlives this until libuv has closed it.
};

}  // namespace fermata::uv::detail
