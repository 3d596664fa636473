// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/loop/tcp/connection.hpp"

namespace fermata::loop {

namespace {

/// Bytes of one write. The age of what is unsent is told by writes that end, so that they are not
/// too large for a slow peer.
constexpr std::size_t kWriteBytes = 65'536;

}  // namespace

SendResult TcpConnection::send(std::string_view message) {
  if (!framing_ || state_ == TcpState::Closing || state_ == TcpState::Closed) {
    return send_raw(message);
  }
  encoded_.clear();
  framing_->encode(message, encoded_);
  return send_raw(encoded_);
}

SendResult TcpConnection::send_raw(std::string_view bytes) {
  const bool open = state_ == TcpState::Established || state_ == TcpState::Connecting;
  if (!open || shut_wanted_) {
    ++counters_.messages_refused;
    return SendResult::RefusedClosed;
  }
  if (queue_.at_limit()) {
    ++counters_.messages_refused;
    report({TcpFailureKind::Refused, ENOBUFS,
            fmt::format("send: {} bytes are queued, the high mark is {}", queue_.size(),
                        queue_.marks().high),
            nullptr});
    return SendResult::RefusedFull;
  }
  return enqueue(bytes);
}

/// Without a limit. REQUIRES: established, or connecting.
SendResult TcpConnection::enqueue(std::string_view bytes) {
  FERMATA_ASSERT(state_ == TcpState::Established || state_ == TcpState::Connecting);
  if (bytes.size() > backend::kTransferMax) {
    throw UsageError(fmt::format("send: {} bytes, expected at most {} at once", bytes.size(),
                                 backend::kTransferMax));
  }
  const bool established = state_ == TcpState::Established;
  if (established && queue_.empty()) {
    if (const std::size_t written = stream_->write_at_once(std::as_bytes(std::span(bytes)))) {
      counters_.bytes_sent += written;
      sent_at_ = now();
      bytes.remove_prefix(written);
    }
  }
  if (!bytes.empty()) {
    if (queue_.empty()) unsent_since_ = now();
    told(queue_.push(bytes));
    if (established) submit();
    if (state_ == TcpState::Closed) return SendResult::Failed;
  }
  ++counters_.messages_sent;
  return queue_.empty() ? SendResult::Sent : SendResult::Queued;
}

/// Writes on while the system takes everything at once.
void TcpConnection::submit() {
  while (queue_.has_waiting() && !write_ && stream_) {
    write_.emplace(*stream_, queue_.front(kWriteBytes));
    queue_.take_front();
    if (!write_->is_completed()) {
      write_->add_callback(write_done_);
      return;
    }
    const std::exception_ptr error = write_->error();
    write_.reset();
    if (!wrote(error)) return;
  }
}

/// Inside a turn. The notice of a connection whose handler is suspended would wait for that one.
void TcpConnection::write_completed() {
  if (!serving_) return loop_.notice(notice_);
  loop_.queue([self = shared_from_this()] {
    if (self->write_ && self->write_->is_completed()) self->finish_write();
    self->settle();
  });
}

void TcpConnection::finish_write() {
  FERMATA_ASSERT(write_ && write_->is_completed());
  const std::exception_ptr error = write_->error();
  write_.reset();
  if (wrote(error)) submit();
}

/// What was in flight is sent, unless there is an `error`: then it is the end, and false.
bool TcpConnection::wrote(std::exception_ptr error) {
  if (error) {
    fail(TcpFailureKind::Send, std::move(error));
    return false;
  }
  const std::size_t before = queue_.size();
  const SendQueue::Edge edge = queue_.written();
  counters_.bytes_sent += before - queue_.size();
  sent_at_ = now();
  unsent_since_ = queue_.empty() ? Instant::never() : sent_at_;
  told(edge);
  if (queue_.empty() && state_ != TcpState::Closing) announce(&TcpHandlers::on_flushed);
  return true;
}

void TcpConnection::told(SendQueue::Edge edge) {
  if (edge == SendQueue::Edge::None) return;
  const bool filled = edge == SendQueue::Edge::Full;
  if (filled) ++counters_.times_full;
  for (detail::TcpLink* link : std::vector(links_)) filled ? link->filled() : link->drained();
  if (state_ == TcpState::Closing) return;
  announce(filled ? &TcpHandlers::on_full : &TcpHandlers::on_drain);
}

void TcpConnection::shutdown_write() {
  if (state_ != TcpState::Established && state_ != TcpState::Connecting) return;
  shut_wanted_ = true;
  settle();
}

}  // namespace fermata::loop
