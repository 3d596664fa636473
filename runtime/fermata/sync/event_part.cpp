// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/event_part.hpp"

#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::detail {

void EventPart::start_event() {
  FERMATA_ASSERT(event_);
  FERMATA_ASSERT(!started_);
  Event& event = *event_;
  if (!event.is_startable()) return;
  event.start();
  if (backend::Callback::event() == &event) {
    started_ = true;
    round_ = event.round();
  } else {
    event.stop();
  }
}

std::exception_ptr EventPart::error_in(const Outcome& outcome) const {
  FERMATA_ASSERT(event_);
  if (!outcome.error) return nullptr;
  Event& event = *event_;
  std::exception_ptr error = event.error_for_waiter(outcome.error);
  FERMATA_ASSERT(error != nullptr);
  if (event.replay() != nullptr) {
    event.mark_exception_owed();
  } else {  // Nobody can ask it again.
    event.mark_exception_handled();
    event.mark_exception_caught();
  }
  return error;
}

void EventPart::let_go() noexcept {
  FERMATA_ASSERT(event_);
  Event& event = *event_;
  const bool started = std::exchange(started_, false);
  if (started && round_ == event.round()) event.stop();
  event.remove_callback(*this);
  FERMATA_ASSERT(backend::Callback::event() == nullptr);
}

}  // namespace fermata::detail
