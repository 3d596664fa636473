// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/loop/tcp/connection.hpp"

namespace fermata::loop {

namespace {

/// Bytes of the peer that are dropped at once.
constexpr std::size_t kDropBytes = 16'384;

}  // namespace

/// Closing, and everything is sent. The system still has some of it, which a reset would lose: so
/// this waits for the peer's end.
void TcpConnection::linger() {
  if (ended_ || options_->linger_deadline == Duration::zero()) return destroy();
  if (std::exchange(lingers_, true)) return;
  FERMATA_ASSERT(state_ == TcpState::Closing && queue_.empty());
  cancel_timer(flush_timer_);
  if (!std::exchange(shut_, true)) stream_->shutdown_write();
  flush_timer_ = loop_.delay(
      options_->linger_deadline,
      [this] {
        flush_timer_ = 0;
        destroy();
      },
      place_);
}

/// Where what comes while it closes is read to. The message of a handler that is suspended stays.
std::span<std::byte> TcpConnection::drop_target() {
  if (!dropped_) dropped_ = std::make_unique_for_overwrite<std::byte[]>(kDropBytes);
  return {dropped_.get(), kDropBytes};
}

/// A read has ended, inside a turn, or there may be more to read.
void TcpConnection::look_again() {
  if (!serving_ || state_ != TcpState::Closing) return loop_.notice(notice_);
  // The notice would wait for the handler that is suspended.
  loop_.queue([self = shared_from_this()] {
    self->receive();
    self->settle();
  });
}

}  // namespace fermata::loop
