// SPDX-License-Identifier: Apache-2.0

// Streams of stdio in a simulated process.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/posix/streams.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

class PosixStreams : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
  }
};

std::string contents(const char* path) {
  std::FILE* const stream = std::fopen(path, "r");
  if (stream == nullptr) return "-";
  std::string text(20'000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stream));
  std::fclose(stream);
  return text;
}

off_t size_of(const char* path) {
  struct stat status = {};
  return ::stat(path, &status) == 0 ? status.st_size : -1;
}

TEST_F(PosixStreams, AreBufferedByTheCLibrary) {
  run_alone([] {
    std::FILE* const stream = std::fopen("a", "w");
    ASSERT_NE(stream, nullptr);
    EXPECT_EQ(std::fprintf(stream, "%d lines\n", 2), 8);
    EXPECT_EQ(size_of("a"), 0);
    EXPECT_EQ(std::fflush(stream), 0);
    EXPECT_EQ(size_of("a"), 8);
    std::fputs("second\n", stream);
    EXPECT_EQ(std::ftell(stream), 15);
    EXPECT_EQ(std::fclose(stream), 0);
    EXPECT_EQ(contents("a"), "2 lines\nsecond\n");
  });
  EXPECT_NE(::access("a", F_OK), 0);
}

TEST_F(PosixStreams, HaveTheModesOfFopen) {
  run_alone([] {
    EXPECT_EQ(std::fopen("none", "r"), nullptr);
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(std::fopen("a", "q"), nullptr);
    EXPECT_EQ(errno, EINVAL);
    std::FILE* const made = std::fopen("a", "wx");
    std::fputs("abc", made);
    EXPECT_EQ(std::fgetc(made), EOF);
    std::fclose(made);
    EXPECT_EQ(std::fopen("a", "wx"), nullptr);
    EXPECT_EQ(errno, EEXIST);
    std::FILE* const appended = std::fopen("a", "a");
    EXPECT_EQ(std::ftell(appended), 3);
    std::fputs("def", appended);
    std::fclose(appended);
    std::FILE* const updated = std::fopen("a", "r+");
    EXPECT_EQ(std::fgetc(updated), 'a');
    EXPECT_EQ(std::fseek(updated, -1, SEEK_END), 0);
    EXPECT_EQ(std::fputc('F', updated), 'F');
    std::rewind(updated);
    std::array<char, 10> line{};
    EXPECT_STREQ(std::fgets(line.data(), line.size(), updated), "abcdeF");
    EXPECT_NE(std::feof(updated), 0);
    std::fclose(updated);
  });
}

TEST_F(PosixStreams, AreOnDescriptors) {
  run_alone([] {
    const int file = ::open("a", O_RDWR | O_CREAT, 0644);
    std::FILE* const stream = ::fdopen(file, "w");
    EXPECT_EQ(::fileno(stream), file);
    std::fputs("abc", stream);
    std::fclose(stream);
    EXPECT_EQ(::fcntl(file, F_GETFD), -1);
    EXPECT_EQ(::fdopen(99, "r"), nullptr);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(::fdopen(::open("a", O_RDONLY), "w"), nullptr);
    EXPECT_EQ(errno, EINVAL);
    std::FILE* const other = std::fopen("a", "r");
    EXPECT_EQ(std::freopen("b", "w", other), other);
    std::fputs("xyz", other);
    std::fclose(other);
    EXPECT_EQ(contents("a"), "abc");
    EXPECT_EQ(contents("b"), "xyz");
    std::FILE* const nameless = std::tmpfile();
    std::fputs("tmp", nameless);
    std::rewind(nameless);
    EXPECT_EQ(std::fgetc(nameless), 't');
    std::fclose(nameless);
  });
}

TEST_F(PosixStreams, OfPipesWait) {
  run_alone([] {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    std::FILE* const reader = ::fdopen(ends[0], "r");
    auto writer = spawn([&] {
      delay(1s);
      EXPECT_EQ(::write(ends[1], "line\n", 5), 5);
    });
    std::array<char, 10> line{};
    EXPECT_STREQ(std::fgets(line.data(), line.size(), reader), "line\n");
    EXPECT_GE(now().nanoseconds, 1'000'000'000);
    await(writer);
    std::fclose(reader);
  });
}

TEST_F(PosixStreams, OfPipesAreForOneCoroutineAtATime) {
  run_alone([] {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    std::FILE* const reader = ::fdopen(ends[0], "r");
    auto first = spawn([&] { EXPECT_EQ(std::fgetc(reader), 'x'); });
    delay(1s);
    EXPECT_EQ(std::fgetc(reader), EOF);
    EXPECT_EQ(errno, EDEADLK);
    EXPECT_EQ(::write(ends[1], "x", 1), 1);
    await(first);
  });
}

TEST_F(PosixStreams, CoroutinesDoNotCutIntoEachOther) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    begin(seed);
    world_->node("main", [] {
      std::FILE* const stream = std::fopen("a", "w");
      const auto write = [stream](char letter) {
        const std::string text(3000, letter);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(std::fwrite(text.data(), 1, 3000, stream), 3000u);
      };
      auto other = spawn([&] { write('b'); });
      write('a');
      await(other);
      std::fclose(stream);
      const std::string text = contents("a");
      EXPECT_EQ(text.size(), 18'000u);
      for (std::size_t i = 0; i < text.size(); ++i) ASSERT_EQ(text[i], text[i / 3000 * 3000]) << i;
    });
    run();
  }
}

TEST_F(PosixStreams, WhatIsNotFlushedIsLostWithTheProcess) {
  std::vector<std::string> found;
  world_->service("main", [&] {
    found.push_back(contents("a"));
    std::FILE* const stream = std::fopen("a", "a");
    std::fputs("flushed ", stream);
    EXPECT_EQ(std::fflush(nullptr), 0);
    ::sync();
    std::fputs("buffered", stream);
    delay(1h);
  });
  world_->at(1s, [this] { world_->node("main").crash(); });
  world_->at(2s, [this] { world_->node("main").restart(); });
  world_->node("other", [] { delay(3s); });
  run();
  EXPECT_EQ(found, (std::vector<std::string>{"-", "flushed "}));
}

TEST_F(PosixStreams, OutsideOfAWorldAreTheSystems) {
  std::FILE* const stream = std::tmpfile();
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(posix::descriptor_of(stream), -1);
  EXPECT_GE(::fileno(stream), 3);
  std::fclose(stream);
}

TEST_F(PosixStreams, OfAnEarlierLifeReadNothing) {
  static std::ifstream kept;
  static std::string found;
  int life = 0;
  world_->service("main", [&] {
    if (++life == 1) {
      std::ofstream("a") << "text";
      ::sync();
      kept.open("a");
      delay(1h);
    }
    const int same = ::open("a", O_RDONLY);
    EXPECT_GE(same, 3);
    std::getline(kept, found);
    EXPECT_EQ(::lseek(same, 0, SEEK_CUR), 0);
    ::close(same);
  });
  world_->at(1s, [this] { world_->node("main").crash(); });
  world_->at(2s, [this] { world_->node("main").restart(); });
  world_->node("other", [] { delay(3s); });
  run();
  EXPECT_EQ(life, 2);
  EXPECT_EQ(found, "");
}

}  // namespace
}  // namespace fermata::sim
