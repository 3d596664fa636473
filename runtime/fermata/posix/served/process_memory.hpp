// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "fermata/posix/heap.hpp"
#include "fermata/posix/served/own_allocator.hpp"

namespace fermata::posix {

/// Memory that a function of the C library gives to its caller, who frees it: from the heap of the
/// process that is served, so that nothing leaks when that ends. Null, with errno, without any.
[[nodiscard]] inline void* allocate_for_process(std::size_t size) noexcept {
#ifdef FERMATA_OWN_ALLOCATOR
  Heap* const heap = nullptr;  // Its free() knows nothing of heaps.
#else
  Heap* const heap = foreign_heap;
#endif
  void* const memory =
      heap != nullptr ? heap->allocate(size, alignof(std::max_align_t)) : std::malloc(size);
  if (memory == nullptr) errno = ENOMEM;
  return memory;
}

/// Frees it.
inline void free_of_process(void* memory) noexcept {
  if (memory != nullptr && Heap::contains(memory)) return Heap::release(memory);
  std::free(memory);
}

}  // namespace fermata::posix
