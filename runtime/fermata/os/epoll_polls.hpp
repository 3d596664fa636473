// SPDX-License-Identifier: Apache-2.0
#pragma once

// Descriptors that users bring, in an epoll of our own that the loop watches as one descriptor: the
// loop never learns of them, so that one closed behind our back cannot harm it.

#include "fermata/os/descriptor_polls.hpp"
#include "fermata/os/epoll_set.hpp"

namespace fermata::os {

class EpollPolls : public DescriptorPolls {
 protected:
  /// Throws InputOutputError.
  explicit EpollPolls(fermata::detail::Attachment& attachment) : DescriptorPolls(attachment) {}

  [[nodiscard]] EpollSet& set() noexcept { return set_; }
  /// Tells who watches it that a descriptor is ready, if that still counts.
  void tell(const EpollSet::Found& found) noexcept;

  // --- hook ---

  /// A descriptor is about to be watched: set() has to be, from now on.
  virtual void need_watch() {}

 private:
  class WatchedPoll;

  Ref<backend::Poll> make(int descriptor) final;

  EpollSet set_;
};

}  // namespace fermata::os
