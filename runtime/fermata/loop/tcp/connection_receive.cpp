// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/loop/tcp/connection.hpp"

namespace fermata::loop {

/// Delivers and reads on until nothing is there, the budget is used up, or nobody wants more. A
/// connection that closes reads too, until its peer ends, and throws the bytes away.
void TcpConnection::receive() {
  std::size_t budget = options_->read_budget;
  while (true) {
    if (state_ == TcpState::Established) deliver();
    const bool closing = state_ == TcpState::Closing;
    if (state_ == TcpState::Established && is_paused()) return read_.reset();
    if ((state_ != TcpState::Established && !closing) || ended_) return;
    if (!read_) {
      read_.emplace(*stream_, closing ? drop_target() : received_.room(options_->read_chunk));
      if (!read_->is_completed()) {
        read_->add_callback(read_done_);
        return;
      }
    }
    if (!read_->is_completed()) return;
    if (budget == 0) return look_again();
    if (!take_read(budget)) return;
  }
}

/// False when there is nothing more to read.
bool TcpConnection::take_read(std::size_t& budget) {
  FERMATA_ASSERT(read_ && read_->is_completed());
  const std::exception_ptr error = read_->error();
  const std::size_t size = error ? 0 : read_->take();
  read_.reset();
  if (error) {
    lingers_ ? destroy() : fail(TcpFailureKind::Receive, error);
    return false;
  }
  if (size == 0) {
    ended();
    return false;
  }
  if (state_ == TcpState::Established) received_.append(size);
  received_at_ = now();
  counters_.bytes_received += size;
  budget -= std::min(budget, size);
  return true;
}

void TcpConnection::ended() {
  FERMATA_ASSERT(!ended_);
  ended_ = true;
  if (state_ != TcpState::Established) return;
  if (!options_->allow_half_open) return close();
  if (sink_ != nullptr) return sink_->ended();
  guarded([this] { call(&TcpHandlers::on_end); });
}

/// Hands out the messages that are whole.
void TcpConnection::deliver() {
  while (state_ == TcpState::Established && !is_paused() && !received_.empty()) {
    std::string_view message = received_.contents();
    if (framing_) {
      if (frame_length_ == 0 && !find_frame()) return;
      FERMATA_ASSERT(frame_length_ <= options_->package_max);
      if (received_.size() < frame_length_) return;
      message = received_.contents().substr(0, frame_length_);
      received_.consume(std::exchange(frame_length_, 0));
      try {
        message = framing_->decode(message);
      } catch (...) {
        return fail_framing();
      }
      if (state_ != TcpState::Established) return;
    } else {
      received_.consume(message.size());
    }
    ++counters_.messages_received;
    guarded([&] {
      if (sink_ != nullptr) return sink_->message(message);
      const auto handlers = handlers_;
      if (handlers->on_message) handlers->on_message(*this, message);
    });
  }
}

/// In a handler of what the framing has thrown.
void TcpConnection::fail_framing() {
  const std::exception_ptr error = std::current_exception();
  fail(TcpFailureKind::Protocol, 0, message_of(error), error);
  if (is_end_of_coroutine(error)) throw;
}

/// Asks the framing for the length of the frame that comes in; false while nobody knows it, and
/// when this is the end of the connection.
bool TcpConnection::find_frame() {
  FERMATA_ASSERT(framing_ != nullptr && frame_length_ == 0);
  const std::size_t most = options_->package_max;
  std::string_view shown = received_.contents();
  if (shown.size() > most) shown = shown.substr(0, most + 1);
  std::int64_t length = 0;
  try {
    length = framing_->frame_length(shown);
  } catch (...) {
    fail_framing();
    return false;
  }
  if (state_ != TcpState::Established) return false;
  if (length < 0) {
    fail(TcpFailureKind::Protocol, 0, "not a valid frame");
    return false;
  }
  const auto size = static_cast<std::uint64_t>(length);
  if (size > most || (size == 0 && received_.size() > most)) {
    fail(TcpFailureKind::Protocol, 0,
         size == 0 ? fmt::format("a frame of more than {} bytes", most)
                   : fmt::format("a frame of {} bytes, expected at most {}", size, most));
    return false;
  }
  frame_length_ = static_cast<std::size_t>(size);
  return frame_length_ != 0;
}

}  // namespace fermata::loop
