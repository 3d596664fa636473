// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/polls.hpp"

#include <span>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::uv::detail {

class Polls::WatchedPoll final : public os::DescriptorPoll {
 public:
  WatchedPoll(Polls& polls, int descriptor) : DescriptorPoll(polls, descriptor), polls_(polls) {}

 private:
  void watch(PollMask mask) override { polls_.set_.watch(descriptor(), mask); }
  void unwatch() noexcept override { polls_.set_.rest(descriptor()); }
  bool watch_again(PollMask mask) noexcept override {
    return polls_.set_.resume(descriptor(), mask);
  }
  void close_backend() noexcept override {
    if (same_file()) polls_.set_.unwatch(descriptor());  // Else it may be another one's.
    DescriptorPoll::close_backend();
  }

  Polls& polls_;
};

Polls::Polls(Loop& loop) : DescriptorPolls(loop.attachment()), loop_(loop), watch_(new uv_poll_t) {
  uv_poll_init(loop.get(), watch_, set_.descriptor());
  watch_->data = this;
  start_watch();
}

Polls::~Polls() {
  uv_close(reinterpret_cast<uv_handle_t*>(watch_),
           [](uv_handle_t* handle) noexcept { delete reinterpret_cast<uv_poll_t*>(handle); });
}

void Polls::start_watch() {
  uv_poll_start(watch_, UV_READABLE, [](uv_poll_t* watch, int, int) noexcept {
    auto& polls = *static_cast<Polls*>(watch->data);
    polls.loop_.begin_callback();
    polls.collect();
  });
}

Ref<backend::Poll> Polls::make(int descriptor) {
  return Ref<backend::Poll>::adopt(*new WatchedPoll(*this, descriptor));
}

void Polls::collect() noexcept {
  const std::span<os::EpollSet::Found> found = set_.look(Instant{}).found;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (Reorder* const reorder = loop_.reorder()) {  // One that is passed over is told again.
      std::swap(found[i], found[i + reorder->draw(found.size() - i)]);
      if (reorder->passes_over()) continue;
    }
    if (!set_.holds(found[i])) continue;
    os::DescriptorPoll* const poll = armed(found[i].descriptor);
    FERMATA_ASSERT(poll != nullptr);
    poll->dispatch(found[i].mask);
  }
  if (!set_.must_be_rebuilt()) return;
  uv_poll_stop(watch_);
  set_.rebuild();
  start_watch();
}

}  // namespace fermata::uv::detail
