// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/os/epoll_polls.hpp"
#include "fermata/uv/loop.hpp"

namespace fermata::uv::detail {

/// Descriptors that users bring; one that libuv knew could make it abort.
class Polls final : public os::EpollPolls {
 public:
  explicit Polls(Loop& loop);
  ~Polls() override;

 private:
  void before_report() noexcept override { loop_.begin_callback(); }
  void start_watch();
  void collect() noexcept;

  Loop& loop_;
  uv_poll_t* watch_;  // Outlives this until libuv has closed it.
};

}  // namespace fermata::uv::detail
