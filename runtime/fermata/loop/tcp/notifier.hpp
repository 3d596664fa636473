// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/core/event.hpp"
#include "fermata/loop/loop.hpp"

namespace fermata::loop::detail {

/// Makes an event of the reactor a notice of the loop. Lives in whoever waits, one event at a time.
class Notifier final : public backend::Callback {
 public:
  explicit Notifier(Loop& loop) noexcept : loop_(loop) {}

  void set_notice(CallbackId notice) noexcept { notice_ = notice; }
  void run(Event&, const Outcome&) override { loop_.notice(notice_); }

 private:
  void destroy() noexcept override {}

  Loop& loop_;
  CallbackId notice_ = 0;
};

}  // namespace fermata::loop::detail
