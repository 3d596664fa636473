// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bytes that a connection still has to send: a chain of chunks, and the marks that tell a producer
// when to pause and when to go on.
//
// Marks   full is told once when the bytes reach `high`, drained once when they then fall to `low`;
//         then full may come again.
// Limit   What comes below `high` is taken whole, so that the queue exceeds it by one message at
//         the most.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fermata::loop {

struct WaterMarks {
  /// In bytes; `low` is below `high`.
  std::size_t high = 1 << 20;
  std::size_t low = 1 << 18;

  /// Throws UsageError.
  void check() const;
};

class SendQueue {
 public:
  explicit SendQueue(const WaterMarks& marks) : marks_(marks) {}

  enum class Edge : std::uint8_t { None, Full, Drained };

  /// Not taken yet, and taken but not written yet.
  [[nodiscard]] std::size_t size() const noexcept { return waiting_ + in_flight_; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] bool has_waiting() const noexcept { return waiting_ > 0; }
  /// Senders are refused.
  [[nodiscard]] bool at_limit() const noexcept { return size() >= marks_.high; }
  /// Full was told and drained was not.
  [[nodiscard]] bool is_full() const noexcept { return full_; }
  [[nodiscard]] const WaterMarks& marks() const noexcept { return marks_; }
  /// The next edge follows the new marks.
  void set_marks(const WaterMarks& marks) noexcept { marks_ = marks; }

  /// Copies `bytes` behind all others, also at the limit.
  Edge push(std::string_view bytes);

  /// The next bytes to write, up to about `most`, at least one chunk.
  [[nodiscard]] std::span<const std::span<const std::byte>> front(std::size_t most);
  /// Removes what front() returned, which is being written; its chunks are no longer needed.
  void take_front();
  /// Everything in flight was written.
  Edge written();

  void clear() noexcept;

 private:
  /// Small messages share chunks of this size.
  static constexpr std::size_t kChunk = 16'384;

  WaterMarks marks_;
  std::deque<std::string> chunks_;
  std::vector<std::span<const std::byte>> front_;
  std::size_t waiting_ = 0;
  std::size_t in_flight_ = 0;
  bool full_ = false;
};

}  // namespace fermata::loop
