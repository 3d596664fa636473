// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/block_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <set>
#include <vector>

#include "fermata/base/freed_memory.hpp"

namespace fermata::detail {
namespace {

TEST(BlockPool, AlignsEveryBlockToACacheLine) {
  BlockPool pool;
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (std::size_t bytes = 1; bytes <= 2048; bytes += 97) {
    void* block = pool.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0u) << bytes;
    std::memset(block, 0xff, bytes);
    blocks.emplace_back(block, bytes);
  }
  EXPECT_EQ(pool.blocks_in_use(), blocks.size());
  for (const auto& [block, bytes] : blocks) pool.release(block, bytes);
  EXPECT_EQ(pool.blocks_in_use(), 0u);
}

TEST(BlockPool, GivesAReleasedBlockOfTheSameClassAgain) {
  BlockPool pool;
  void* first = pool.allocate(400);
  pool.release(first, 400);
  EXPECT_EQ(pool.allocate(390), first);
  EXPECT_NE(pool.allocate(400), first);
  EXPECT_NE(pool.allocate(200), first);
  pool.release(first, 390);
}

TEST(BlockPool, GivesDistinctBlocksAcrossChunks) {
  BlockPool pool;
  std::set<void*> blocks;
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(blocks.insert(pool.allocate(512)).second);
  EXPECT_EQ(pool.blocks_in_use(), 500u);
}

#ifndef FERMATA_ASAN  // It sees what follows by itself, and sooner.

TEST(BlockPool, FillsFreedBlocksWithAPointerToNoMemory) {
  BlockPool pool;
  pool.fill_freed_blocks();
  auto* words = static_cast<std::uint64_t*>(pool.allocate(448));
  std::fill_n(words, 448 / 8, 7);
  pool.release(words, 448);
  for (int i = 0; i < 448 / 8; ++i) {
    if (i == 1) continue;  // It leads to the next block.
    EXPECT_EQ(words[i], kFreedPattern) << i;
  }
  EXPECT_TRUE(is_near_freed_pattern(reinterpret_cast<const void*>(words[2] + 100)));
  EXPECT_FALSE(is_near_freed_pattern(words));
  EXPECT_FALSE(is_near_freed_pattern(nullptr));
  EXPECT_EQ(pool.allocate(448), words) << "and gives them again";
}

TEST(BlockPool, FindsAWriteToAFreedBlockWhenItIsGivenAgain) {
  const auto write_to = [](std::size_t word) {
    BlockPool pool;
    pool.fill_freed_blocks();
    auto* words = static_cast<std::uint64_t*>(pool.allocate(448));
    pool.release(words, 448);
    ++words[word];
    static_cast<void>(pool.allocate(448));
  };
  for (const std::size_t word : {0, 2, 55}) {
    EXPECT_DEATH(write_to(word), "fermata: a block of 448 bytes, .*written to after it was freed");
  }
}

#endif

TEST(BlockPool, CountsNothingWhenMemoryRunsOut) {
#ifdef FERMATA_ASAN
  GTEST_SKIP() << "AddressSanitizer ends the program instead of throwing";
#endif
  BlockPool pool;
  // Not a constant, so that no compiler warns that it is too much.
  volatile std::size_t bytes = std::numeric_limits<std::size_t>::max() / 4;
  EXPECT_THROW(static_cast<void>(pool.allocate(bytes)), std::bad_alloc);
  EXPECT_EQ(pool.blocks_in_use(), 0u);
}

}  // namespace
}  // namespace fermata::detail
