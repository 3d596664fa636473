// SPDX-License-Identifier: Apache-2.0

// Allocation: a foreign library that runs in a simulated process gets memory from the heap of that
// process, told by the address of the caller, and memory is freed where it came from. All else is
// the C library's. Absent under sanitizers, which have an allocator of their own; there what a
// library leaves behind at a crash is a leak.

#include "fermata/posix/served/own_allocator.hpp"

#ifndef FERMATA_OWN_ALLOCATOR

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>

#include "fermata/base/assert.hpp"
#include "fermata/posix/foreign_code.hpp"
#include "fermata/posix/heap.hpp"

using fermata::posix::foreign_heap;
using fermata::posix::Heap;
using fermata::posix::is_known_foreign_code;

extern "C" {

// The C library's, under names that nothing can define anew.
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* memory);
}

namespace {

constexpr size_t kUsual = alignof(std::max_align_t);

/// The heap that a call from `caller` allocates from; null: the C library's.
Heap* heap_of(const void* caller) noexcept {
  Heap* const heap = foreign_heap;
  return heap != nullptr && is_known_foreign_code(caller) ? heap : nullptr;
}

void* checked(void* memory) noexcept {
  if (memory == nullptr) errno = ENOMEM;
  return memory;
}

void* allocate_aligned(const void* caller, size_t alignment, size_t size) noexcept {
  Heap* const heap = heap_of(caller);
  return heap == nullptr ? __libc_memalign(alignment, size)
                         : checked(heap->allocate(size, std::bit_ceil(alignment)));
}

/// What `new` gives to `caller`, as the C++ library does it.
void* allocate_object(const void* caller, size_t size, size_t alignment) {
  constexpr size_t kLeast = 1;
  FERMATA_ASSERT(std::has_single_bit(alignment));
  for (;;) {
    Heap* const heap = heap_of(caller);
    void* const memory = heap != nullptr      ? heap->allocate(std::max(size, kLeast), alignment)
                         : alignment > kUsual ? __libc_memalign(alignment, size)
                                              : __libc_malloc(std::max(size, kLeast));
    if (memory != nullptr) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void* allocate_object_if_possible(const void* caller, size_t size, size_t alignment) noexcept {
  try {
    return allocate_object(caller, size, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

size_t page_size() noexcept { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

extern "C" {

void* malloc(size_t size) noexcept {
  Heap* const heap = heap_of(__builtin_return_address(0));
  return heap == nullptr ? __libc_malloc(size) : checked(heap->allocate(size, kUsual));
}

void* calloc(size_t count, size_t size) noexcept {
  Heap* const heap = heap_of(__builtin_return_address(0));
  if (heap == nullptr) return __libc_calloc(count, size);
  size_t whole = 0;
  void* const memory =
      __builtin_mul_overflow(count, size, &whole) ? nullptr : heap->allocate(whole, kUsual);
  return memory == nullptr ? checked(nullptr) : std::memset(memory, 0, whole);
}

void free(void* memory) noexcept {
  if (memory == nullptr) return;
  return Heap::contains(memory) ? Heap::release(memory) : __libc_free(memory);
}

// What is in a heap stays in that one, whoever asks.
void* realloc(void* memory, size_t size) noexcept {
  Heap* heap = heap_of(__builtin_return_address(0));
  if (memory == nullptr) {
    return heap == nullptr ? __libc_realloc(nullptr, size) : checked(heap->allocate(size, kUsual));
  }
  if (!Heap::contains(memory)) return __libc_realloc(memory, size);
  if (size == 0) {
    Heap::release(memory);
    return nullptr;
  }
  heap = Heap::of(memory);
  void* const moved = heap == nullptr ? nullptr : heap->allocate(size, kUsual);
  if (moved == nullptr) return checked(nullptr);
  std::memcpy(moved, memory, std::min(size, Heap::size_of(memory)));
  Heap::release(memory);
  return moved;
}

void* memalign(size_t alignment, size_t size) noexcept {
  return allocate_aligned(__builtin_return_address(0), alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return allocate_aligned(__builtin_return_address(0), alignment, size);
}

int posix_memalign(void** result, size_t alignment, size_t size) noexcept {
  if (!std::has_single_bit(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int before = errno;
  void* const memory = allocate_aligned(__builtin_return_address(0), alignment, size);
  errno = before;
  if (memory == nullptr) return ENOMEM;
  *result = memory;
  return 0;
}

void* valloc(size_t size) noexcept {
  return allocate_aligned(__builtin_return_address(0), page_size(), size);
}

void* pvalloc(size_t size) noexcept {
  const size_t page = page_size();
  return allocate_aligned(__builtin_return_address(0), page, (size + page - 1) / page * page);
}

size_t malloc_usable_size(void* memory) noexcept {
  if (memory == nullptr) return 0;
  if (Heap::contains(memory)) return Heap::size_of(memory);
  using Function = size_t(void*);
  static auto* const real = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, "malloc_usable_size"));
  return real(memory);
}

}  // extern "C"

// Where a program defines its own, that wins.

[[gnu::weak]] void* operator new(size_t size) {
  return allocate_object(__builtin_return_address(0), size, kUsual);
}
[[gnu::weak]] void* operator new[](size_t size) {
  return allocate_object(__builtin_return_address(0), size, kUsual);
}
[[gnu::weak]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return allocate_object_if_possible(__builtin_return_address(0), size, kUsual);
}
[[gnu::weak]] void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return allocate_object_if_possible(__builtin_return_address(0), size, kUsual);
}
[[gnu::weak]] void* operator new(size_t size, std::align_val_t alignment) {
  return allocate_object(__builtin_return_address(0), size, static_cast<size_t>(alignment));
}
[[gnu::weak]] void* operator new[](size_t size, std::align_val_t alignment) {
  return allocate_object(__builtin_return_address(0), size, static_cast<size_t>(alignment));
}

[[gnu::weak]] void operator delete(void* memory) noexcept { free(memory); }
[[gnu::weak]] void operator delete[](void* memory) noexcept { free(memory); }
[[gnu::weak]] void operator delete(void* memory, size_t) noexcept { free(memory); }
[[gnu::weak]] void operator delete[](void* memory, size_t) noexcept { free(memory); }
[[gnu::weak]] void operator delete(void* memory, std::align_val_t) noexcept { free(memory); }
[[gnu::weak]] void operator delete[](void* memory, std::align_val_t) noexcept { free(memory); }
[[gnu::weak]] void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  free(memory);
}
[[gnu::weak]] void operator delete[](void* memory, size_t, std::align_val_t) noexcept {
  free(memory);
}

#endif
