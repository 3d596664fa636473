// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/heap.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::posix {

constinit thread_local Heap* foreign_heap = nullptr;

namespace {

constexpr std::size_t kSlots = 512;
constexpr std::size_t kSlot = std::size_t{512} << 20;  // Bytes of addresses of each heap.
constexpr std::size_t kAll = kSlots * kSlot;
constexpr std::uintptr_t kPlace = std::uintptr_t{0x2000'0000'0000};
constexpr std::size_t kAligned = 16;
/// What is cleared by hand; more is given back to the system.
constexpr std::size_t kSmall = std::size_t{256} << 10;

/// The range of addresses; which parts of it belong to heaps.
struct Reserved {
  std::byte* begin = nullptr;  // Null: not reserved, or not to be had.
  bool tried = false;
  std::array<Heap*, kSlots> owners = {};

  [[nodiscard]] std::size_t slot_of(const void* address) const noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(address) - begin) / kSlot;
  }
};
constinit Reserved range;

std::byte* reserve(std::uintptr_t place, int flags) noexcept {
  void* const found = ::mmap(reinterpret_cast<void*>(place), kAll, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  return found == MAP_FAILED ? nullptr : static_cast<std::byte*>(found);
}

[[noreturn]] void end_by_double_free() noexcept {
  constexpr std::string_view kText = "fermata: foreign code frees memory that is free already\n";
  static_cast<void>(os::kernel.write(STDERR_FILENO, kText.data(), kText.size()));
  std::abort();
}

// Sizes up to 512 in steps of 16; above in four steps from each power of two to the next.
constexpr std::size_t kStep = 16;
constexpr std::size_t kFine = 512;
constexpr std::size_t kFineClasses = kFine / kStep;

struct SizeClass {
  std::size_t number;
  std::size_t size;
};

constexpr SizeClass class_of(std::size_t size) noexcept {
  if (size <= kFine) {
    const std::size_t steps = std::max<std::size_t>((size + kStep - 1) / kStep, 1);
    return {steps - 1, steps * kStep};
  }
  const auto power = static_cast<std::size_t>(std::bit_width(size - 1)) - 1;  // 2^power < size.
  const std::size_t quarter = std::size_t{1} << (power - 2);
  const std::size_t quarters = (size + quarter - 1) / quarter;  // 5 to 8.
  return {kFineClasses + (power - 9) * 4 + (quarters - 5), quarters * quarter};
}
static_assert(class_of(1).size == 16 && class_of(512).number == kFineClasses - 1);
static_assert(class_of(513).number == kFineClasses && class_of(513).size == 640);
static_assert(class_of(1024).size == 1024 && class_of(1025).size == 1280);

}  // namespace

/// What stands before allocated memory.
struct alignas(kAligned) Heap::Block {
  static constexpr std::uint32_t kLive = 0xfe12a7au;
  static constexpr std::uint32_t kFreed = 0xf4eed;

  std::uint32_t state;
  std::uint32_t size_class;
  union {
    std::size_t size;  // That was asked for.
    Block* next;       // The next that is free.
  };
};

Heap::~Heap() {
  if (begin_ == nullptr) return;
  clear();
  range.owners[range.slot_of(begin_)] = nullptr;
}

bool Heap::is_available() noexcept {
  if (begin_ != nullptr) return true;
  if (!range.tried) {
    range.tried = true;
    range.begin = reserve(kPlace, MAP_FIXED_NOREPLACE);
    if (range.begin == nullptr) range.begin = reserve(0, 0);
  }
  if (range.begin == nullptr) return false;
  const auto free = std::find(range.owners.begin(), range.owners.end(), nullptr);
  if (free == range.owners.end()) return false;
  *free = this;
  begin_ = range.begin + static_cast<std::size_t>(free - range.owners.begin()) * kSlot;
  top_ = begin_;
  return true;
}

// More aligned memory is the aligned part of a larger block, whose own header is before it.
void* Heap::allocate(std::size_t size, std::size_t alignment) noexcept {
  FERMATA_ASSERT(begin_ != nullptr);
  FERMATA_ASSERT(std::has_single_bit(alignment));
  if (size > kSlot || alignment > kSlot) return nullptr;
  const std::size_t extra = alignment > kAligned ? alignment : 0;
  const SizeClass wanted = class_of(size + extra);
  Block* block = free_[wanted.number];
  if (block != nullptr) {
    free_[wanted.number] = block->next;
  } else {
    const std::size_t whole = sizeof(Block) + wanted.size;
    if (whole > kSlot - used()) return nullptr;
    block = reinterpret_cast<Block*>(top_);
    top_ += whole;
  }
  block->state = Block::kLive;
  block->size_class = static_cast<std::uint32_t>(wanted.number);
  block->size = size;
  auto* const memory = reinterpret_cast<std::byte*>(block + 1);
  if (extra == 0) return memory;
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  std::byte* const aligned = memory + ((alignment - at % alignment) % alignment);
  if (aligned == memory) return memory;
  // A block in the block, of no class: it says where the outer one is.
  auto* const inner = reinterpret_cast<Block*>(aligned) - 1;
  if (inner != block) *inner = {.state = Block::kLive, .size_class = kClasses, .next = block};
  return aligned;
}

void Heap::clear() noexcept {
  if (begin_ == nullptr) return;
  if (used() <= kSmall) {
    std::memset(begin_, 0, used());
  } else {
    ::madvise(begin_, used(), MADV_DONTNEED);
  }
  top_ = begin_;
  free_ = {};
}

bool Heap::contains(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto begin = reinterpret_cast<std::uintptr_t>(range.begin);
  return begin != 0 && at - begin < kAll;
}

Heap* Heap::of(const void* address) noexcept {
  FERMATA_ASSERT(contains(address));
  return range.owners[range.slot_of(address)];
}

// Null when it was freed with its heap.
Heap::Block* Heap::block_of(const void* address) noexcept {
  const Heap* const heap = of(address);
  if (heap == nullptr || static_cast<const std::byte*>(address) >= heap->top_) return nullptr;
  auto* block = const_cast<Block*>(static_cast<const Block*>(address)) - 1;
  if (block->state == Block::kLive && block->size_class == kClasses) block = block->next;
  return block->state == 0 ? nullptr : block;
}

void Heap::release(void* address) noexcept {
  FERMATA_ASSERT(contains(address));
  Block* const block = block_of(address);
  if (block == nullptr) return;
  if (block->state != Block::kLive) end_by_double_free();
  Heap& heap = *of(address);
  block->state = Block::kFreed;
  block->next = heap.free_[block->size_class];
  heap.free_[block->size_class] = block;
}

std::size_t Heap::size_of(const void* address) noexcept {
  FERMATA_ASSERT(contains(address));
  const Block* const block = block_of(address);
  return block == nullptr ? 0 : block->size;
}

}  // namespace fermata::posix
