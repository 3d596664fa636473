// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "fermata/runtime/io/request_wait.hpp"
#include "fermata/runtime/reactor/listener.hpp"

namespace fermata {

namespace detail {

/// The next connection; null when `listener` is closed, also while this waits.
Ref<StreamHandle> accept_from(ListenerHandle& listener, const WaitOptions& options,
                              SourcePlace place);

}  // namespace detail

/// What accepts connections of one kind. Owns the listener; the destructor closes it and never
/// suspends.
template <class Stream>
class StreamListener {
 public:
  explicit StreamListener(Ref<ListenerHandle> handle) noexcept : handle_(std::move(handle)) {}
  StreamListener(StreamListener&& other) noexcept = default;
  StreamListener& operator=(StreamListener&& other) noexcept {
    if (this != &other) {
      close();
      handle_ = std::move(other.handle_);
    }
    return *this;
  }
  ~StreamListener() { close(); }

  /// The next connection; empty when the listener is closed, also while this waits. May suspend. An
  /// accept that is cancelled or times out passes its connection on.
  [[nodiscard]] std::optional<Stream> accept(const WaitOptions& options = {},
                                             SourcePlace place = SourcePlace::current()) {
    Ref<StreamHandle> connection = detail::accept_from(handle(), options, place);
    if (!connection) return std::nullopt;
    return Stream(std::move(connection));
  }

  /// Idempotent; connections that nobody has accepted are closed.
  void close() noexcept {
    if (handle_) handle_->close();
  }

  [[nodiscard]] bool is_open() const noexcept { return handle_ && !handle_->closed(); }
  /// Throws UsageError on a value that was moved from.
  [[nodiscard]] ListenerHandle& handle() const {
    FERMATA_REQUIRE(handle_, detail::kTerminated);
    return *handle_;
  }

 private:
  Ref<ListenerHandle> handle_;
};

}  // namespace fermata
