// SPDX-License-Identifier: Apache-2.0

// On a disk that is slow, reads in parts and fails: what was processed is the file, or the
// beginning of it and an error.

#include <chrono>
#include <fermata/sim.hpp>
#include <string>

#include "examples/file_pieces/file_pieces.hpp"

namespace {

using namespace std::chrono_literals;

SIM_TEST(FilePieces, AreTheWholeFileOrAnError) {
  std::string text(40'000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i * i % 23);
  try {
    fermata::File::open("/large.txt", fermata::OpenMode::writing()).write(text);
  } catch (const fermata::InputOutputError&) {
    return;  // The disk is full, or broken.
  }
  fermata::loop::Loop loop;
  std::string seen;
  int done = 0;
  bool failed = false;
  read_in_pieces(
      loop, "/large.txt",
      [&](std::span<const std::byte> piece) {
        ASSERT_LE(piece.size(), kPiece);
        seen.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      },
      [&](std::exception_ptr error) {
        ++done;
        failed = error != nullptr;
      });
  loop.run();
  EXPECT_EQ(done, 1);
  EXPECT_TRUE(failed ? text.starts_with(seen) : seen == text);
}

SIM_TEST(FilePieces, LeaveTimeForTimers) {
  fermata::loop::Loop loop;
  bool ticked = false;
  bool missing = false;
  read_in_pieces(
      loop, "/missing.txt", [](std::span<const std::byte>) {},
      [&](std::exception_ptr error) { missing = error != nullptr; });
  loop.delay(1ms, [&] { ticked = true; });
  loop.run();
  EXPECT_TRUE(ticked);
  EXPECT_TRUE(missing);
}

}  // namespace
