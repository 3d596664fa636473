// SPDX-License-Identifier: Apache-2.0
#pragma once

// One direction of a connection: what is under way and what has arrived and is not read yet.
//
// Order         First in, first out, whatever each segment's delay (legal orders only).
// Flow control  At most as many bytes are under way or unread as both ends' buffers hold.

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#include "fermata/base/assert.hpp"
#include "fermata/base/time.hpp"

namespace fermata::sim::detail {

class Pipe {
 public:
  /// The size of the buffer of each end, unless it is set, and of both together.
  static constexpr std::size_t kBuffer = 32 * 1024;
  static constexpr std::size_t kWindow = 2 * kBuffer;

  void set_sender_buffer(std::size_t bytes) noexcept { sender_buffer_ = bytes; }
  void set_receiver_buffer(std::size_t bytes) noexcept { receiver_buffer_ = bytes; }

  // --- the sender's side ---

  /// Bytes that can be sent now.
  [[nodiscard]] std::size_t room() const noexcept {
    const std::size_t held = bytes_.size() - read_;
    const std::size_t window = sender_buffer_ + receiver_buffer_;
    return held < window ? window - held : 0;
  }
  /// never(): it waits until resume() says when it arrives, and so does whatever follows.
  /// All three return whether anything is sent: nothing is after a reset, nor a second end.
  bool send(std::span<const std::byte> bytes, Instant arrival);
  bool send_end(Instant arrival);
  /// The connection is broken; nothing follows.
  bool send_reset(Instant arrival);
  /// Forgets what the receiver's buffer has no room for, and an end behind it: it has never left
  /// the sender's buffer, and goes with that.
  void lose_unsent();
  /// When what was sent last arrives; never() while nobody knows.
  [[nodiscard]] Instant last_arrival() const noexcept { return last_arrival_; }
  /// Schedules the arrival of held data: `when` is called for each size, in order.
  template <class F>
  void resume(F when) {
    for (std::size_t i = first_; i < segments_.size(); ++i) {
      Segment& segment = segments_[i];
      if (segment.arrival == Instant::never()) segment.arrival = when(segment.size);
      FERMATA_ASSERT(segment.arrival != Instant::never());
    }
    if (first_ < segments_.size()) last_arrival_ = segments_.back().arrival;
  }

  // --- the receiver's side ---

  /// When the next segment under way arrives; never() when there is none.
  [[nodiscard]] Instant next_arrival() const noexcept {
    return first_ < segments_.size() ? segments_[first_].arrival : Instant::never();
  }
  /// Delivers the data that is due.
  void arrive(Instant now) {
    if (next_arrival() <= now) arrive_due(now);
  }
  [[nodiscard]] std::size_t under_way() const noexcept { return bytes_.size() - arrived_; }

  [[nodiscard]] std::size_t unread() const noexcept { return arrived_ - read_; }
  /// Valid until something is sent or consumed.
  [[nodiscard]] std::span<const std::byte> peek() const noexcept {
    return {bytes_.data() + read_, unread()};
  }
  void consume(std::size_t bytes) noexcept {
    FERMATA_ASSERT(bytes <= unread());
    read_ += bytes;
    if (read_ == bytes_.size()) {
      bytes_.clear();
      read_ = arrived_ = 0;
    } else if (read_ > bytes_.size() / 2) {
      forget_read();
    }
  }
  /// Forgets the last of what has arrived.
  void drop_last(std::size_t bytes) noexcept;

  /// The end, or a reset, has arrived; bytes may still be unread before it.
  [[nodiscard]] bool is_ended() const noexcept { return ended_; }
  [[nodiscard]] bool is_broken() const noexcept { return broken_; }

 private:
  enum class Kind : std::uint8_t { Bytes, End, Reset };
  struct Segment {
    Instant arrival;
    std::uint32_t size;  // Not more than two buffers hold, each of an int.
    Kind kind;
  };

  /// REQUIRES: a segment is due.
  void arrive_due(Instant now);
  /// Drops the segments that have arrived.
  void forget_arrived() noexcept;
  void forget_read() noexcept;
  void cut_out(std::size_t at, std::size_t bytes) noexcept;
  /// Returns whether it is still sent.
  bool push(Segment segment);

  std::size_t sender_buffer_ = kBuffer;
  std::size_t receiver_buffer_ = kBuffer;
  // Most connections have few and small messages under way: those need no memory of their own.
  boost::container::small_vector<Segment, 2> segments_;  // In order: arrived, under way.
  std::size_t first_ = 0;                                // Where those under way begin.
  Instant last_arrival_;
  boost::container::small_vector<std::byte, 64> bytes_;  // In order: read, arrived, under way.
  std::size_t read_ = 0;                                 // Where what is not read begins,
  std::size_t arrived_ = 0;                              // and what is under way.
  bool end_sent_ = false;
  bool reset_sent_ = false;
  bool ended_ = false;
  bool broken_ = false;
};

}  // namespace fermata::sim::detail
