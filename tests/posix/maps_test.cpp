// SPDX-License-Identifier: Apache-2.0

// Files of a simulated machine that are mapped into memory.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPage = 4096;

class PosixMaps : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
  }
};

int make(const char* path, std::size_t size) {
  const int descriptor = ::open(path, O_RDWR | O_CREAT, 0644);
  EXPECT_EQ(::ftruncate(descriptor, static_cast<off_t>(size)), 0);
  return descriptor;
}

char* map(int descriptor, std::size_t size, int flags = MAP_SHARED, off_t offset = 0) {
  void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, descriptor, offset);
  EXPECT_NE(mapped, MAP_FAILED) << std::strerror(errno);
  return static_cast<char*>(mapped);
}

std::string read_at(int descriptor, off_t offset, std::size_t size) {
  std::string text(size, '\0');
  const ssize_t read = ::pread(descriptor, text.data(), size, offset);
  text.resize(read < 0 ? 0 : static_cast<std::size_t>(read));
  return text;
}

TEST_F(PosixMaps, SharedOnesOfAFileAreOneMemoryThatReadsAndWritesSee) {
  run_alone([] {
    const int file = make("a", 2 * kPage);
    char* const one = map(file, 2 * kPage);
    char* const other = map(::open("a", O_RDWR), kPage, MAP_SHARED, kPage);
    std::memcpy(one + kPage, "hello", 5);
    EXPECT_EQ(std::string(other, 5), "hello");
    EXPECT_EQ(read_at(file, kPage, 5), "hello");
    EXPECT_EQ(::pwrite(file, "J", 1, kPage), 1);
    EXPECT_EQ(std::string(one + kPage, 5), "Jello");
    EXPECT_EQ(::munmap(one, 2 * kPage), 0);
    EXPECT_EQ(::munmap(other, kPage), 0);
    EXPECT_EQ(read_at(file, kPage, 5), "Jello");
  });
}

TEST_F(PosixMaps, AFileGrowsWhileItIsMapped) {
  run_alone([] {
    const int file = make("a", kPage);
    char* const first = map(file, kPage);
    first[0] = 'x';
    EXPECT_EQ(::pwrite(file, "", 1, 2 * kPage - 1), 1);
    char* const second = map(file, kPage, MAP_SHARED, kPage);
    second[1] = 'y';
    EXPECT_EQ(read_at(file, 0, 1), "x");
    EXPECT_EQ(read_at(file, kPage + 1, 1), "y");
    EXPECT_EQ(::ftruncate(file, 1), 0);
    EXPECT_EQ(::ftruncate(file, 2 * kPage), 0);
    EXPECT_EQ(second[1], '\0');
  });
}

TEST_F(PosixMaps, PrivateOnesChangeNothing) {
  run_alone([] {
    const int file = make("a", kPage);
    EXPECT_EQ(::pwrite(file, "abc", 3, 0), 3);
    char* const mine = map(::open("a", O_RDONLY), kPage, MAP_PRIVATE);
    EXPECT_EQ(std::string(mine, 3), "abc");
    mine[0] = 'x';
    EXPECT_EQ(read_at(file, 0, 3), "abc");
  });
}

TEST_F(PosixMaps, AMapOutlivesItsDescriptorAndItsName) {
  run_alone([] {
    const int file = make("a", kPage);
    char* const memory = map(file, kPage);
    EXPECT_EQ(::unlink("a"), 0);
    EXPECT_EQ(::close(file), 0);
    memory[0] = 'x';
    EXPECT_EQ(memory[0], 'x');
    void* const moved = ::mremap(memory, kPage, 2 * kPage, MREMAP_MAYMOVE);
    ASSERT_NE(moved, MAP_FAILED);
    EXPECT_EQ(*static_cast<char*>(moved), 'x');
    EXPECT_EQ(::munmap(moved, 2 * kPage), 0);
  });
}

TEST_F(PosixMaps, AreRefusedLikeLinuxRefusesThem) {
  run_alone([] {
    const auto error_of = [](int descriptor, int protection, int flags) {
      return ::mmap(nullptr, kPage, protection, flags, descriptor, 0) == MAP_FAILED ? errno : 0;
    };
    ::close(make("a", kPage));
    EXPECT_EQ(error_of(99, PROT_READ, MAP_SHARED), EBADF);
    EXPECT_EQ(error_of(::open("/", O_RDONLY), PROT_READ, MAP_SHARED), ENODEV);
    EXPECT_EQ(error_of(::open("a", O_WRONLY), PROT_READ, MAP_SHARED), EACCES);
    EXPECT_EQ(error_of(::open("a", O_RDONLY), PROT_WRITE, MAP_SHARED), EACCES);
    EXPECT_EQ(error_of(::open("a", O_RDONLY), PROT_WRITE, MAP_PRIVATE), 0);
    EXPECT_EQ(error_of(::open("a", O_RDWR), PROT_READ, 0), EINVAL);
  });
}

/// What is in a file of two pages after a crash, in many runs.
class PosixMapsAtCrashes : public test::WorldFixture {
 protected:
  std::set<std::string> left(const std::function<void(int file, char* memory)>& write) {
    constexpr std::uint64_t kSeeds = 100;
    std::set<std::string> found;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      begin(seed);
      world_->service("main", [&, life = std::make_shared<int>(0)] {
        if (++*life == 2) {
          const int file = ::open("a", O_RDONLY);
          found.insert(read_at(file, 0, 1) + read_at(file, kPage, 1));
          return;
        }
        const int file = make("a", 2 * kPage);
        EXPECT_EQ(::pwrite(file, "-", 1, 0), 1);
        EXPECT_EQ(::pwrite(file, "-", 1, kPage), 1);
        ::sync();
        write(file, map(file, 2 * kPage));
        delay(1h);
      });
      world_->at(1s, [this] { world_->node("main").crash(); });
      world_->at(2s, [this] { world_->node("main").restart(); });
      world_->node("other", [] { delay(3s); });
      run();
    }
    return found;
  }
};

TEST_F(PosixMapsAtCrashes, EachPageIsKeptOrLostByItself) {
  const auto found = left([](int, char* memory) {
    memory[0] = 'a';
    memory[kPage] = 'b';
  });
  EXPECT_EQ(found, (std::set<std::string>{"--", "-b", "a-", "ab"}));
}

TEST_F(PosixMapsAtCrashes, WhatIsSyncedStays) {
  const auto found = left([](int, char* memory) {
    memory[0] = 'a';
    EXPECT_EQ(::msync(memory, 2 * kPage, MS_SYNC), 0);
    memory[kPage] = 'b';
  });
  EXPECT_EQ(found, (std::set<std::string>{"a-", "ab"}));
  const auto by_file = left([](int file, char* memory) {
    memory[0] = 'a';
    EXPECT_EQ(::fsync(file), 0);
  });
  EXPECT_EQ(by_file, std::set<std::string>{"a-"});
}

TEST_F(PosixMapsAtCrashes, WhatIsWrittenAfterTheCrashIsNotThere) {
  struct Late {
    char* memory;
    ~Late() { memory[0] = 'x'; }
  };
  const auto found = left([](int, char* memory) {
    const Late late{memory};
    delay(1h);
  });
  EXPECT_EQ(found, std::set<std::string>{"--"});
}

}  // namespace
}  // namespace fermata::sim
