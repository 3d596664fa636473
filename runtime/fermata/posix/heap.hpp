// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that the foreign libraries of one simulated process have allocated. When the process ends,
// however it does, all of it is free again at once.
//
// Place      All heaps are in one range of addresses, which is reserved at the first use, where it
//            can be had at the same place in every process.
// Contents   New memory is zero, so that what is never written is the same in every run.
// Threads    The thread's own of the process that it serves.

#include <array>
#include <cstddef>
#include <cstdint>

namespace fermata::posix {

class Heap {
 public:
  Heap() = default;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap();

  /// Whether it has addresses, and takes some if it has none. False when there are none left.
  [[nodiscard]] bool is_available() noexcept;

  /// Aligned to `alignment`, a power of two. Null when it is full. REQUIRES: is_available().
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) noexcept;
  /// Frees everything.
  void clear() noexcept;
  /// Bytes of addresses in use, those that are free again included.
  [[nodiscard]] std::size_t used() const noexcept {
    return static_cast<std::size_t>(top_ - begin_);
  }

  /// Whether an address is in a heap of the process, also of one that has been cleared.
  [[nodiscard]] static bool contains(const void* address) noexcept;
  /// Frees what was allocated there. What has been freed with its heap is let alone. REQUIRES:
  /// contains(address).
  static void release(void* address) noexcept;
  /// How many bytes were allocated there; 0 of what was freed with its heap. REQUIRES:
  /// contains(address).
  [[nodiscard]] static std::size_t size_of(const void* address) noexcept;
  /// The heap that `address` is in. REQUIRES: contains(address).
  [[nodiscard]] static Heap* of(const void* address) noexcept;

 private:
  struct Block;
  static constexpr std::size_t kClasses = 160;

  static Block* block_of(const void* address) noexcept;

  std::byte* begin_ = nullptr;  // Null: it has no addresses.
  std::byte* top_ = nullptr;    // What follows has never been used in this life.
  std::array<Block*, kClasses> free_ = {};
};

/// Where foreign libraries allocate on this thread; null when the C library's heap serves them.
extern constinit thread_local Heap* foreign_heap;

}  // namespace fermata::posix
