// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "fermata/base/assert.hpp"

namespace fermata::loop {

/// Bytes that came and are not cut into messages yet, in one piece. Bytes are received straight
/// into it.
class ReceiveBuffer {
 public:
  /// Room for at least `least` bytes behind the contents. It may move what room() returned before,
  /// and views of the contents.
  [[nodiscard]] std::span<std::byte> room(std::size_t least);
  /// The first `count` bytes of the room are contents now.
  void append(std::size_t count) noexcept {
    FERMATA_ASSERT(count <= capacity_ - end_);
    end_ += count;
  }

  [[nodiscard]] std::string_view contents() const noexcept {
    return {reinterpret_cast<const char*>(bytes_.get()) + begin_, end_ - begin_};
  }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }

  /// Forgets the first `count` bytes; views of them stay good until the next room() or release().
  void consume(std::size_t count) noexcept {
    FERMATA_ASSERT(count <= size());
    begin_ += count;
  }
  void clear() noexcept { begin_ = end_ = 0; }
  /// Clears the buffer and frees its memory.
  void release() noexcept;

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace fermata::loop
