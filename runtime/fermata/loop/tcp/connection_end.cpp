// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/exception_ptr_cast.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/loop/tcp/at_exit.hpp"
#include "fermata/loop/tcp/connection.hpp"

namespace fermata::loop {

void TcpConnection::close(std::optional<std::string_view> last) {
  if (state_ == TcpState::Connecting) return destroy();
  if (state_ != TcpState::Established) return;
  if (last && !shut_wanted_) {
    encoded_.clear();
    framing_ ? framing_->encode(*last, encoded_) : void(encoded_ = *last);
    if (state_ != TcpState::Established) return;  // The framing has ended it.
    enqueue(encoded_);
    if (state_ != TcpState::Established) return;
  }
  state_ = TcpState::Closing;
  tell_links_closed();
  cancel_timer(heart_timer_);
  read_.reset();  // What comes from now on is dropped.
  if (queue_.empty()) {
    linger();
    if (state_ == TcpState::Closed) return;
  } else {
    flush_timer_ = loop_.delay(options_->flush_deadline, [this] {
      flush_timer_ = 0;
      fail(TcpFailureKind::FlushTimeout, ETIMEDOUT,
           fmt::format("close: {} bytes were not sent in time", queue_.size()));
    });
  }
  look_again();
}

void TcpConnection::destroy() {
  if (state_ == TcpState::Closed || state_ == TcpState::Initial) return;
  const TcpConnectionPtr self = shared_from_this();
  detach();
  tell_links_closed();
  close_told_ = false;
  loop_.queue([self] { self->tell_close(); });
  if (owner_ != nullptr) std::exchange(owner_, nullptr)->connection_closed(*this);
}

void TcpConnection::abandon() {
  const TcpConnectionPtr self = shared_from_this();
  handlers_.reset();
  close_told_ = true;
  owner_ = nullptr;
  cancel_timer(reconnect_timer_);
  if (state_ != TcpState::Closed) {
    detach();
    tell_links_closed();
  }
  release_if_over();
}

/// The loop and the reactor serve it no more. It stays a member of the loop: its on_close, and a
/// reconnection, are still to come.
void TcpConnection::detach() noexcept {
  FERMATA_ASSERT(!loop_ended_);
  cancel_timer(connect_timer_);
  cancel_timer(flush_timer_);
  cancel_timer(heart_timer_);
  let_go();
  loop_.cancel(std::exchange(notice_, 0));
}

/// Nothing is to come any more, and so the loop may end without telling it.
void TcpConnection::leave_loop() noexcept {
  if (std::exchange(in_loop_, false)) loop_.remove(*this);
}

/// Ends without a word. A handler that is suspended finds a closed connection when it goes on.
void TcpConnection::loop_ended() noexcept {
  in_loop_ = false;
  loop_ended_ = true;
  notice_ = connect_timer_ = flush_timer_ = heart_timer_ = reconnect_timer_ = 0;
  let_go();
  handlers_.reset();
}

/// The reactor lets go of it. Does not touch the loop, which may be ending.
void TcpConnection::let_go() noexcept {
  state_ = TcpState::Closed;
  connect_.reset();
  read_.reset();
  write_.reset();
  dropped_.reset();
  if (stream_) {
    stream_->close();
    stream_.reset();
  }
  queue_.clear();
  unsent_since_ = Instant::never();
}

void TcpConnection::tell_close() {
  const detail::AtExit done([this] {
    close_told_ = true;
    release_if_over();
  });
  call(&TcpHandlers::on_close);
}

/// The end of everything that handlers and the framing hold, unless they are being used.
void TcpConnection::release_if_over() noexcept {
  if (state_ != TcpState::Closed || serving_) return;
  received_.release();
  framing_.reset();
  if (!close_told_ || reconnect_timer_ != 0) return;
  handlers_.reset();
  leave_loop();
}

void TcpConnection::tell_links_closed() {
  if (sink_ != nullptr) std::exchange(sink_, nullptr)->closed(*this);
  for (detail::TcpLink* link : std::exchange(links_, {})) link->closed(*this);
}

/// on_error is told, and that is all.
void TcpConnection::report(TcpFailure failure) {
  if (!handlers_ || !handlers_->on_error) return;
  loop_.queue([self = shared_from_this(), failure = std::move(failure)] {
    if (const auto handlers = self->handlers_) handlers->on_error(*self, failure);
  });
}

void TcpConnection::fail(TcpFailureKind kind, int code, std::string detail,
                         std::exception_ptr error) {
  if (state_ == TcpState::Closed) return;
  report({kind, code, std::move(detail), std::move(error)});
  destroy();
}

void TcpConnection::fail(TcpFailureKind kind, std::exception_ptr error) {
  const auto* const failed = fermata::detail::exception_ptr_cast<InputOutputError>(error);
  const int code = failed != nullptr ? failed->code() : 0;
  std::string detail = message_of(error);
  fail(kind, code, std::move(detail), std::move(error));
}

void TcpConnection::cancel_timer(CallbackId& timer) noexcept {
  if (timer != 0) loop_.cancel(std::exchange(timer, 0));
}

}  // namespace fermata::loop
