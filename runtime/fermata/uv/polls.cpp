// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/polls.hpp"

#include <span>
#include <utility>

namespace fermata::uv::detail {

Polls::Polls(Loop& loop) : EpollPolls(loop.attachment()), loop_(loop), watch_(new uv_poll_t) {
  uv_poll_init(loop.get(), watch_, set().descriptor());
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

void Polls::collect() noexcept {
  const std::span<os::EpollSet::Found> found = set().look(Instant{}).found;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (Reorder* const reorder = loop_.reorder()) {  // One that is passed over is told again.
      std::swap(found[i], found[i + reorder->draw(found.size() - i)]);
      if (reorder->passes_over()) continue;
    }
    tell(found[i]);
  }
  if (!set().must_be_rebuilt()) return;
  uv_poll_stop(watch_);
  set().rebuild();
  start_watch();
}

}  // namespace fermata::uv::detail
