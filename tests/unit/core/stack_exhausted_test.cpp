// SPDX-License-Identifier: Apache-2.0

// No memory for a coroutine's stack: that coroutine fails, the others go on.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/base/sanitizer.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/events.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

/// Bytes of address space that this process has mapped now.
std::size_t mapped_bytes() {
  long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void leave_address_space(std::size_t bytes) {
  const rlimit limit{mapped_bytes() + bytes, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(90);
}

/// In a child process with room for few stacks: some coroutines get one, some fail, and all that
/// got one end well. Exits with 0 when all that held.
[[noreturn]] void starve() {
  RuntimeOptions options;
  options.stacks.stack_bytes = std::size_t{4} << 20;
  TestRuntime fixture(options);
  std::size_t slept = 0;
  std::size_t failed = 0;
  std::string text;
  fixture.run([&] {
    leave_address_space(std::size_t{600} << 20);
    std::vector<Coroutine<>> sleepers;
    for (int i = 0; i < 400; ++i) {
      sleepers.push_back(spawn([&] {
        delay(1ms);
        ++slept;
      }));
    }
    for (const auto& each : sleepers) {
      try {
        await(each);
      } catch (const StackExhausted& error) {
        ++failed;
        text = error.what();
      }
    }
    await(spawn([&] { delay(1ms); }));  // There are stacks again.
  });
  std::fprintf(stderr, "%zu slept, %zu without a stack: %s\n", slept, failed, text.c_str());
  ::_exit(slept > 0 && failed > 0 && slept + failed == 400 ? 0 : 1);
}

TEST(StackExhaustedDeathTest, FailsOneCoroutineAndNotTheOthers) {
#if defined(FERMATA_ASAN) || defined(FERMATA_TSAN)
  GTEST_SKIP() << "sanitizers need more address space than a limit leaves them";
#endif
  EXPECT_EXIT(starve(), ::testing::ExitedWithCode(0),
              "slept, [0-9]+ without a stack: .*stack.*Cannot allocate memory");
}

/// In a child process without room for one stack: exits with 0 when run() has refused.
[[noreturn]] void start_without_room() {
  RuntimeOptions options;
  options.stacks.stack_bytes = std::size_t{1} << 30;
  TestRuntime fixture(options);
  leave_address_space(std::size_t{64} << 20);
  const std::string thrown = thrown_by([&] { fixture.run([] {}); });
  const bool unchanged =
      !fixture.runtime.is_running() && fixture.runtime.blocks().blocks_in_use() == 0;
  std::fprintf(stderr, "%s\n", thrown.c_str());
  ::_exit(unchanged ? 0 : 1);
}

TEST(StackExhaustedDeathTest, StartsNoRunWithoutAStackForTheScheduler) {
#if defined(FERMATA_ASAN) || defined(FERMATA_TSAN)
  GTEST_SKIP() << "sanitizers need more address space than a limit leaves them";
#endif
  EXPECT_EXIT(start_without_room(), ::testing::ExitedWithCode(0),
              "fermata::StackExhausted: no stack of 1048576 KiB for a coroutine, 0 stacks live: "
              "mmap failed: Cannot allocate memory");
}

TEST(StackExhausted, RefusesAnAbsurdStackSize) {
  RuntimeOptions options;
  options.stacks.stack_bytes = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(thrown_by([&] { TestRuntime fixture(options); }),
            "fermata::UsageError: StackOptions::stack_bytes is 18446744073709551615, expected "
            "16384 to 1073741824");
}

}  // namespace
}  // namespace fermata::test
