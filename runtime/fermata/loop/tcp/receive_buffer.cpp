// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/receive_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace fermata::loop {

std::span<std::byte> ReceiveBuffer::room(std::size_t least) {
  if (empty()) clear();
  if (capacity_ - end_ < least) {
    const std::size_t size = end_ - begin_;
    if (capacity_ - size >= least && begin_ >= size) {
      std::memcpy(bytes_.get(), bytes_.get() + begin_, size);
    } else {
      capacity_ = std::max(size + least, 2 * size);
      auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity_);
      if (size > 0) std::memcpy(larger.get(), bytes_.get() + begin_, size);
      bytes_ = std::move(larger);
    }
    begin_ = 0;
    end_ = size;
  }
  FERMATA_ASSERT(begin_ <= end_ && capacity_ - end_ >= least);
  return {bytes_.get() + end_, capacity_ - end_};
}

void ReceiveBuffer::release() noexcept {
  bytes_.reset();
  capacity_ = 0;
  clear();
}

}  // namespace fermata::loop
