// SPDX-License-Identifier: Apache-2.0

// Pipes of foreign code.

#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

class Pipes : public test::WorldFixture {};

// 65 pieces leave room for a part of the next one.
TEST_F(Pipes, AWriterOfWholePiecesGoesOnWhenThereIsRoomForOne) {
  world_->node("main", [] {
    constexpr ssize_t kPiece = 1000;
    constexpr int kPieces = 200;
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    std::thread writer([&] {
      const std::array<char, kPiece> piece{};
      for (int i = 0; i < kPieces; ++i) EXPECT_EQ(::write(ends[1], piece.data(), kPiece), kPiece);
    });
    ::usleep(1000);
    std::vector<char> buffer(100'000);
    ssize_t all = 0;
    while (all < kPieces * kPiece) {
      const ssize_t got = ::read(ends[0], buffer.data(), buffer.size());
      ASSERT_GT(got, 0);
      all += got;
    }
    EXPECT_EQ(all, kPieces * kPiece);
    writer.join();
  });
  run();
}

}  // namespace
}  // namespace fermata::sim
