// SPDX-License-Identifier: Apache-2.0

// The memory of foreign libraries in a simulated process.

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "fermata/posix/heap.hpp"

namespace fermata::posix {
namespace {

class PosixHeap : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!heap_.is_available()) GTEST_SKIP() << "no addresses for a heap";
  }
  Heap heap_;
};

TEST_F(PosixHeap, MemoryIsAlignedZeroAndItsOwn) {
  std::vector<char*> all;
  for (std::size_t size = 0; size < 3000; size += 7) {
    auto* const memory = static_cast<char*>(heap_.allocate(size, 16));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 16, 0u);
    EXPECT_TRUE(Heap::contains(memory));
    EXPECT_EQ(Heap::of(memory), &heap_);
    EXPECT_EQ(Heap::size_of(memory), size);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(memory[i], 0);
    std::memset(memory, static_cast<int>(size % 251 + 1), size);
    all.push_back(memory);
  }
  std::size_t size = 0;
  for (const char* memory : all) {
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(memory[i], static_cast<char>(size % 251 + 1));
    size += 7;
  }
}

TEST_F(PosixHeap, WhatIsFreedIsUsedAgain) {
  void* const first = heap_.allocate(100, 16);
  Heap::release(first);
  const std::size_t used = heap_.used();
  for (int i = 0; i < 1000; ++i) {
    void* const again = heap_.allocate(100, 16);
    EXPECT_EQ(again, first);
    Heap::release(again);
  }
  EXPECT_EQ(heap_.used(), used);
}

TEST_F(PosixHeap, AnyAlignmentIsKept) {
  for (std::size_t alignment = 16; alignment <= 1 << 16; alignment *= 2) {
    void* const memory = heap_.allocate(33, alignment);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0u);
    std::memset(memory, 1, 33);
    EXPECT_GE(Heap::size_of(memory), 33u);
    Heap::release(memory);
  }
}

TEST_F(PosixHeap, ALifeLeavesNothingBehind) {
  void* kept = nullptr;
  for (const std::size_t size : {std::size_t{1000}, std::size_t{1} << 20}) {
    kept = heap_.allocate(size, 16);
    std::memset(kept, 1, size);
    heap_.clear();
    EXPECT_EQ(heap_.used(), 0u);
    Heap::release(kept);  // It went with its heap.
    EXPECT_EQ(Heap::size_of(kept), 0u);
    const auto* const again = static_cast<const char*>(heap_.allocate(size, 16));
    EXPECT_EQ(again, kept);
    EXPECT_EQ(again[0], 0);
    EXPECT_EQ(again[size - 1], 0);
    heap_.clear();
  }
}

TEST_F(PosixHeap, WhatIsTooLargeIsNotThere) {
  EXPECT_EQ(heap_.allocate(std::size_t{1} << 40, 16), nullptr);
  EXPECT_EQ(heap_.allocate((std::size_t{512} << 20) - 8, 16), nullptr);
}

TEST(PosixMemory, TheProgramsOwnIsTheLibrarys) {
  Heap heap;
  if (!heap.is_available()) GTEST_SKIP() << "no addresses for a heap";
  foreign_heap = &heap;
  void* const memory = std::malloc(100);
  foreign_heap = nullptr;
  EXPECT_FALSE(Heap::contains(memory));
  void* const larger = std::realloc(memory, 1000);
  EXPECT_GE(::malloc_usable_size(larger), 1000u);
  std::free(larger);
}

}  // namespace
}  // namespace fermata::posix
