// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory for control blocks: free lists by size class over chunks that live as long as the pool.
//
// Ownership  Blocks belong to the caller until released; chunks belong to the pool.
// Sizes      Multiples of 64 bytes up to 1 KiB come from chunks; larger ones from operator new.
// Stale use  AddressSanitizer sees it. In simulation freed blocks of chunks are filled with
//            kFreedPattern: a pointer read from one leads to no memory, and who writes to one is
//            found out when it is given again.

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/sanitizer.hpp"

namespace fermata::detail {

class BlockPool {
 public:
  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool();

  /// A block of at least `bytes`, aligned to 64.
  [[nodiscard]] void* allocate(std::size_t bytes) {
    const std::size_t size_class = (bytes - 1) / kUnit;
    ++in_use_;
    if (size_class >= kClasses) return allocate_large(bytes);
    Free* block = free_[size_class];
    if (block == nullptr) return carve(size_class);
    FERMATA_UNPOISON(block, (size_class + 1) * kUnit);
    free_[size_class] = block->next;
    // Who takes one takes another soon. At address zero the processor would search its page tables.
    if (block->next != nullptr) __builtin_prefetch(block->next, 1);
    if (fills_) check(*block, (size_class + 1) * kUnit);
    return block;
  }

  /// REQUIRES: `block` came from allocate(bytes).
  void release(void* block, std::size_t bytes) noexcept {
    const std::size_t size_class = (bytes - 1) / kUnit;
    FERMATA_ASSERT(in_use_ > 0);
    --in_use_;
    if (size_class >= kClasses) return release_large(block);
    auto* free = static_cast<Free*>(block);
    free->next = free_[size_class];
    free_[size_class] = free;
    if (fills_) fill(*free, (size_class + 1) * kUnit);
    FERMATA_POISON(block, (size_class + 1) * kUnit);
  }

  /// From now on freed blocks are filled, and checked when they are given again: one that was
  /// written to meanwhile ends the process with a message. REQUIRES: none was freed before.
  void fill_freed_blocks() noexcept {
    FERMATA_ASSERT(chunks_.empty());
    fills_ = true;
  }

  [[nodiscard]] std::size_t blocks_in_use() const noexcept { return in_use_; }

 private:
  static constexpr std::size_t kUnit = 64;
  static constexpr std::size_t kClasses = 16;
  static constexpr std::size_t kChunkBytes = 64 * 1024;

  struct Free {
    void* filled;  // Where the object had its table of virtual functions.
    Free* next;
  };
  struct ChunkDelete {
    void operator()(std::byte* chunk) const noexcept;
  };

  void* allocate_large(std::size_t bytes);
  static void release_large(void* block) noexcept;
  void* carve(std::size_t size_class);
  static void fill(Free& block, std::size_t bytes) noexcept;
  static void check(const Free& block, std::size_t bytes) noexcept;

  std::array<Free*, kClasses> free_{};
  std::vector<std::unique_ptr<std::byte[], ChunkDelete>> chunks_;
  std::byte* fresh_ = nullptr;  // Unused rest of the newest chunk.
  std::byte* fresh_end_ = nullptr;
  std::size_t in_use_ = 0;
  bool fills_ = false;
};

}  // namespace fermata::detail
