// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <span>

#include "fermata/base/assert.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::os {

/// Pieces of memory that one system call sends, in order. It lies on the stack of whoever sends.
class GatheredSend {
 public:
  /// How many more pieces it takes.
  [[nodiscard]] std::size_t room() const noexcept { return pieces_.size() - count_; }

  /// The bytes must live until they are sent. REQUIRES: there is room.
  void add(std::span<const std::byte> bytes) noexcept {
    FERMATA_ASSERT(room() > 0);
    pieces_[count_++] = {const_cast<std::byte*>(bytes.data()), bytes.size()};
    size_ += bytes.size();
  }

  /// In bytes, of all pieces.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Returns what the system does: how many bytes it took, or -1 and errno. A single piece goes
  /// with send(), which costs the system less than sendmsg(). REQUIRES: there is a piece.
  [[nodiscard]] ssize_t send(int socket, int flags) const noexcept {
    FERMATA_ASSERT(count_ > 0);
    if (count_ == 1) return kernel.send(socket, pieces_[0].iov_base, size_, flags);
    msghdr message = {};
    message.msg_iov = const_cast<iovec*>(pieces_.data());
    message.msg_iovlen = count_;
    return kernel.sendmsg(socket, &message, flags);
  }

 private:
  std::array<iovec, 16> pieces_;
  std::size_t count_ = 0;
  std::size_t size_ = 0;
};

}  // namespace fermata::os
