// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pooled 64 KiB stacks without guards, cut from large mappings.
//
// Tops are coloured: without it every stack's first frames fall on the same few cache sets, which
// costs a factor of two from a thousand stacks on.

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace bench {

class StackPool final {
 public:
  static constexpr std::size_t kStackBytes = 64 * 1024;
  static constexpr std::size_t kColours = 32;
  static constexpr std::size_t kUsableBytes = kStackBytes - kColours * 64;

  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool() {
    for (void* slab : slabs_) munmap(slab, kSlabBytes);
  }

  /// The top of a free stack; kUsableBytes lie below it.
  char* take() {
    if (free_.empty()) add_slab();
    char* top = free_.back();
    free_.pop_back();
    return top;
  }

  void give(char* top) { free_.push_back(top); }

 private:
  static constexpr std::size_t kStacksPerSlab = 256;
  static constexpr std::size_t kSlabBytes = kStacksPerSlab * kStackBytes;

  void add_slab() {
    void* slab = mmap(nullptr, kSlabBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED) throw std::bad_alloc();
    slabs_.push_back(slab);
    for (std::size_t i = kStacksPerSlab; i > 0; --i) {
      free_.push_back(static_cast<char*>(slab) + i * kStackBytes - (i % kColours) * 64);
    }
  }

  std::vector<void*> slabs_;
  std::vector<char*> free_;
};

}  // namespace bench
