// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/os/descriptor_polls.hpp"
#include "fermata/poll/watches.hpp"

namespace fermata::poll::detail {

/// Descriptors that users bring, in the backend.
class Polls final : public os::DescriptorPolls {
 public:
  explicit Polls(Watches& watches) : DescriptorPolls(watches.attachment()), watches_(watches) {}

 private:
  class WatchedPoll;

  Ref<Poll> make(int descriptor) override;
  void before_report() noexcept override { watches_.fire_timers(); }

  Watches& watches_;
};

}  // namespace fermata::poll::detail
