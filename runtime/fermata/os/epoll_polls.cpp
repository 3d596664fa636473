// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/epoll_polls.hpp"

#include "fermata/base/assert.hpp"

namespace fermata::os {

class EpollPolls::WatchedPoll final : public DescriptorPoll {
 public:
  WatchedPoll(EpollPolls& polls, int descriptor)
      : DescriptorPoll(polls, descriptor), polls_(polls) {}

 private:
  void watch(PollMask mask) override {
    polls_.need_watch();
    polls_.set_.watch(descriptor(), mask);
  }
  void unwatch() noexcept override { polls_.set_.rest(descriptor()); }
  bool watch_again(PollMask mask) noexcept override {
    return polls_.set_.resume(descriptor(), mask);
  }
  void close_backend() noexcept override {
    if (same_file()) polls_.set_.unwatch(descriptor());  // Else it may be another one's.
    DescriptorPoll::close_backend();
  }

  EpollPolls& polls_;
};

Ref<backend::Poll> EpollPolls::make(int descriptor) {
  return Ref<backend::Poll>::adopt(*new WatchedPoll(*this, descriptor));
}

void EpollPolls::tell(const EpollSet::Found& found) noexcept {
  if (!set_.holds(found)) return;
  DescriptorPoll* const poll = armed(found.descriptor);
  FERMATA_ASSERT(poll != nullptr);
  poll->dispatch(found.mask);
}

}  // namespace fermata::os
