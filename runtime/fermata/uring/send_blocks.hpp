// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace fermata::uring::detail {

/// Small writes of one connection, collected until they leave.
struct SendBlock {
  std::array<std::byte, 4096> bytes;
};

/// Blocks that were used lately, for whoever writes next.
class SendBlocks {
 public:
  [[nodiscard]] std::unique_ptr<SendBlock> take() {
    if (spare_.empty()) return std::unique_ptr<SendBlock>(new SendBlock);
    std::unique_ptr<SendBlock> block = std::move(spare_.back());
    spare_.pop_back();
    return block;
  }

  void give_back(std::unique_ptr<SendBlock> block) noexcept {
    if (spare_.size() < kSpare) spare_.push_back(std::move(block));
  }

 private:
  static constexpr std::size_t kSpare = 1024;

  std::vector<std::unique_ptr<SendBlock>> spare_;
};

}  // namespace fermata::uring::detail
