// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/file_watcher.hpp"

#include <algorithm>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/io/request_wait.hpp"
#include "fermata/reactor/file_watches.hpp"

namespace fermata {

struct FileWatcher::State {
  State(std::string_view path, const FileWatcherOptions& options)
      : buffer(options),
        watch(current_runtime().reactor().file_watches().open(path, options.recursive)),
        subscription(subscribe(*watch, [this](Event&, const Outcome& outcome) {
          buffer.add(*static_cast<const FileEvent*>(outcome.result), now());
        })) {}

  /// Waits for news, or until what is held back is due.
  void wait(const detail::Deadline& deadline, const SourcePlace& place) {
    WaitOptions options = deadline.remaining();
    const bool gives_up = options.timeout.has_value();
    if (!buffer.empty()) {
      const Duration held = buffer.due() - now();
      if (!gives_up || held <= *options.timeout) {
        return wait_for_due(held, options.token, place);
      }
    }
    backend::FileWatchRequest news(*watch, backend::FileWatchGoal::News);
    detail::finish(news, options, place);
  }

  void wait_for_due(Duration held, Event* token, const SourcePlace& place) {
    try {
      backend::FileWatchRequest news(*watch, backend::FileWatchGoal::News);
      detail::finish(news, {.timeout = held, .token = token}, place);
    } catch (const Timeout&) {
    }
  }

  detail::FileEventBuffer buffer;
  Ref<backend::FileWatch> watch;
  Subscription subscription;
};

FileWatcher::FileWatcher(std::string_view path, const FileWatcherOptions& options,
                         const WaitOptions& wait_options, SourcePlace place) {
  detail::check_token(wait_options);
  state_ = std::make_shared<State>(path, options);
  state_->watch->set_made_at(place);
  try {
    backend::FileWatchRequest ready(*state_->watch, backend::FileWatchGoal::Ready);
    detail::finish(ready, wait_options, place);
  } catch (...) {
    close();
    throw;
  }
}

FileWatcher& FileWatcher::operator=(FileWatcher&& other) noexcept {
  if (this != &other) {
    close();
    state_ = std::move(other.state_);
  }
  return *this;
}

const std::shared_ptr<FileWatcher::State>& FileWatcher::state() const {
  FERMATA_REQUIRE(state_, "file watcher: expected one that has not been moved from");
  return state_;
}

backend::FileWatch& FileWatcher::handle() const { return *state()->watch; }

bool FileWatcher::is_open() const noexcept { return state_ && !state_->watch->is_closed(); }

void FileWatcher::close() noexcept {
  if (state_) state_->watch->close();
}

std::optional<FileEvent> FileWatcher::next(const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  const std::shared_ptr<State> state = this->state();
  const detail::Deadline deadline(options);
  while (true) {
    const bool ended = state->watch->is_ended();
    if (!state->buffer.empty() && (ended || state->buffer.due() <= now())) {
      return state->buffer.take();
    }
    if (ended) {
      if (state->watch->error() && !state->watch->is_closed()) {
        std::rethrow_exception(state->watch->error());
      }
      return std::nullopt;
    }
    state->wait(deadline, place);
  }
}

}  // namespace fermata
