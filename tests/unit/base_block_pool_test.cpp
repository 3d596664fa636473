// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/base/block_pool.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <set>
#include <vector>

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
