// SPDX-License-Identifier: Apache-2.0
#include "fermata/context/context_pool.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "tests/unit/context/stage.hpp"

namespace fermata {
namespace {

using detail::ContextPool;
using detail::StackContext;
using testing::kSanitized;
using testing::leave;
using testing::Stage;

constexpr StackOptions kSmallStacks{.stack_bytes = 32 * 1024};

void never_entered(StackContext&) noexcept { std::abort(); }

std::vector<StackContext*> acquire_many(ContextPool& pool, std::size_t count) {
  std::vector<StackContext*> contexts(count);
  for (StackContext*& context : contexts) context = &pool.acquire(&never_entered);
  return contexts;
}

void release_all(ContextPool& pool, const std::vector<StackContext*>& contexts) {
  for (StackContext* context : contexts) pool.release(*context);
}

void trim_periods(ContextPool& pool, unsigned periods) {
  for (unsigned i = 0; i < periods * ContextPool::kTrimsPerPeriod; ++i) pool.trim();
}

std::uint64_t system_calls(const ContextPool& pool) {
  const auto stats = pool.stats();
  return stats.mmap_calls + stats.guard_calls + stats.discard_calls;
}

std::size_t resident_bytes() {
  std::size_t total = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * 4096;
}

TEST(ContextPool, GivesTheLastReleasedFirst) {
  ContextPool pool({});
  StackContext& first = pool.acquire(&never_entered);
  StackContext& second = pool.acquire(&never_entered);
  pool.release(first);
  pool.release(second);
  EXPECT_EQ(&pool.acquire(&never_entered), &second);
  EXPECT_EQ(&pool.acquire(&never_entered), &first);
  EXPECT_EQ(pool.stats().created_total, 2U);
  EXPECT_EQ(pool.stats().live, 2U);
}

TEST(ContextPool, CountsWhatItHolds) {
  ContextPool pool(kSmallStacks);
  EXPECT_EQ(pool.stats().mapped_bytes, 0U);
  const auto contexts = acquire_many(pool, 100);
  pool.release(*contexts[0]);
  const auto stats = pool.stats();
  EXPECT_EQ(stats.live, 99U);
  EXPECT_EQ(stats.idle, 1U);
  EXPECT_EQ(stats.peak, 100U);
  EXPECT_EQ(stats.slabs, 3U);  // One of 16, then 64 each.
  EXPECT_EQ(stats.mmap_calls, 3U);
  EXPECT_EQ(stats.guard_calls, 100U);
  EXPECT_EQ(stats.mapped_bytes, (16 + 64 + 64) * (kSmallStacks.stack_bytes + detail::kGuardBytes));
}

TEST(ContextPool, SteadyBurstsMakeNoSystemCall) {
  ContextPool pool(kSmallStacks);
  release_all(pool, acquire_many(pool, 1000));
  const auto calls = system_calls(pool);
  for (int burst = 0; burst < 100; ++burst) {
    for (unsigned i = 0; i < ContextPool::kTrimsPerPeriod / 2; ++i) pool.trim();
    release_all(pool, acquire_many(pool, 1000));
  }
  EXPECT_EQ(system_calls(pool), calls);
}

TEST(ContextPool, GivesMemoryBackAfterThePeak) {
  ContextPool pool(kSmallStacks);
  const auto before = resident_bytes();
  release_all(pool, acquire_many(pool, 5000));
  const auto at_peak = resident_bytes();
  trim_periods(pool, 60);
  const auto stats = pool.stats();
  EXPECT_LE(stats.idle, 16U);
  EXPECT_LE(stats.slabs, 16U);
  EXPECT_EQ(stats.discard_calls + stats.idle, 5000U);
  if (!kSanitized) {
    EXPECT_GE(at_peak - before, 5000U * 4096);
    EXPECT_LE(resident_bytes() - before, 1000U * 4096);
  }
}

TEST(ContextPool, GivesMemoryBackBitByBit) {
  ContextPool pool(kSmallStacks);
  release_all(pool, acquire_many(pool, 5000));
  std::uint64_t discarded = 0;
  for (unsigned i = 0; i < 100 * ContextPool::kTrimsPerPeriod; ++i) {
    pool.trim();
    EXPECT_LE(pool.stats().discard_calls - discarded, ContextPool::kStripsPerTrim);
    discarded = pool.stats().discard_calls;
  }
}

TEST(ContextPool, UsesSurplusBeforeItIsGone) {
  ContextPool pool(kSmallStacks);
  release_all(pool, acquire_many(pool, 5000));
  while (pool.stats().discard_calls == 0) pool.trim();
  const auto idle = pool.stats().idle;
  const auto created = pool.stats().created_total;
  (void)acquire_many(pool, idle);
  EXPECT_EQ(pool.stats().idle, 0U);
  EXPECT_EQ(pool.stats().created_total, created);
}

TEST(ContextPool, KeepsWhatIsLiveThroughATrim) {
  Stage stage(kSmallStacks);
  int resumed = 0;
  std::vector<StackContext*> paused;
  for (int i = 0; i < 500; ++i) {
    StackContext& context = stage.start([&] {
      stage.pause();
      ++resumed;
    });
    if (i % 50 == 0) {
      paused.push_back(&context);
    } else {
      stage.resume(context);
    }
  }
  release_all(stage.pool, acquire_many(stage.pool, 2000));
  trim_periods(stage.pool, 60);
  for (StackContext* context : paused) stage.resume(*context);
  EXPECT_EQ(resumed, 500);
  EXPECT_EQ(stage.pool.stats().live, 0U);
}

TEST(ContextPool, FurnishesStrippedStacksAgain) {
  Stage stage(kSmallStacks);
  const auto pinned = acquire_many(stage.pool, 1000);
  // Every slab keeps one live context, so none is unmapped.
  std::vector<StackContext*> others;
  for (std::size_t i = 0; i < pinned.size(); ++i) {
    if (i % 16 != 0) others.push_back(pinned[i]);
  }
  release_all(stage.pool, others);
  trim_periods(stage.pool, 60);
  const auto trimmed = stage.pool.stats();
  EXPECT_GT(trimmed.discard_calls, 800U);

  int ran = 0;
  std::vector<StackContext*> started;
  for (std::size_t i = 0; i < others.size(); ++i) {
    started.push_back(&stage.start([&] {
      stage.pause();
      ++ran;
    }));
  }
  for (StackContext* context : started) stage.resume(*context);
  EXPECT_EQ(ran, static_cast<int>(others.size()));
  EXPECT_EQ(stage.pool.stats().mmap_calls, trimmed.mmap_calls);
  EXPECT_EQ(stage.pool.stats().guard_calls, trimmed.guard_calls) << "guards survive a trim";
}

TEST(ContextPool, StackIsWhollyUsable) {
  Stage stage(kSmallStacks);
  stage.start([&] {
    const StackContext& self = *stage.running;
    const auto* const frame = static_cast<std::byte*>(__builtin_frame_address(0));
    EXPECT_GT(frame - self.stack_low, 28 * 1024);
    *self.stack_low = std::byte{1};
    EXPECT_EQ(stage.pool.high_water_bytes(self), kSmallStacks.stack_bytes);
  });
}

// All colours, so that the lowest top is among them.
TEST(ContextPool, IdleContextHoldsOnePage) {
  if (kSanitized) GTEST_SKIP() << "sanitizers make frames larger";
  Stage stage;
  std::set<std::uintptr_t> tops_within_page;
  for (int i = 0; i < 96; ++i) {
    StackContext& context = stage.start([&] { stage.pause(); });
    EXPECT_EQ(stage.pool.high_water_bytes(context), 4096U);
    tops_within_page.insert(reinterpret_cast<std::uintptr_t>(context.stack_high) % 4096);
  }
  EXPECT_EQ(tops_within_page.size(), 32U);
}

TEST(ContextPool, HighWaterFollowsUse) {
  Stage stage;
  StackContext& context = stage.start([&] {
    *(stage.running->stack_high - 40'000) = std::byte{1};
    stage.pause();
  });
  const std::byte* const top = context.stack_low + StackOptions().stack_bytes;
  const auto used = static_cast<std::size_t>(top - (context.stack_high - 40'000));
  EXPECT_EQ(stage.pool.high_water_bytes(context), (used + 4095) / 4096 * 4096);
  stage.resume(context);
  EXPECT_EQ(stage.pool.high_water_bytes(stage.home), 0U) << "not a stack of the pool";
}

TEST(ContextPool, FreesWhatIsStillLive) {
  const auto before = resident_bytes();
  for (int i = 0; i < 20; ++i) {
    ContextPool pool(kSmallStacks);
    (void)acquire_many(pool, 1000);
  }
  if (kSanitized) GTEST_SKIP() << "sanitizers hold memory of their own";
  EXPECT_LE(resident_bytes() - before, 1000U * 4096);
}

TEST(ContextPool, HoldsTwoHundredThousandStacks) {
  const std::size_t count = kSanitized ? 10'000 : 200'000;
  try {
    ContextPool pool({.guards = Guards::Madvise});
    (void)acquire_many(pool, count);
    EXPECT_EQ(pool.stats().live, count);
  } catch (const Unsupported& error) {
    GTEST_SKIP() << error.what();
  }
}

// A kernel before 6.13, as far as the child can tell.
void refuse_guard_install() {
  std::array<sock_filter, 6> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 102, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void acquire_on_an_old_kernel(Guards guards) {
  refuse_guard_install();
  try {
    ContextPool pool({.guards = guards});
    (void)acquire_many(pool, 100);
    std::fprintf(stderr, "%zu stacks, %zu slabs\n", pool.stats().live, pool.stats().slabs);
  } catch (const Unsupported& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  leave(0);
}

TEST(ContextPool, ChoosesGuardsThatTheKernelHas) {
  EXPECT_EXIT(acquire_on_an_old_kernel(Guards::Automatic), ::testing::ExitedWithCode(0),
              "^100 stacks, 3 slabs\n");
  EXPECT_EXIT(acquire_on_an_old_kernel(Guards::Madvise), ::testing::ExitedWithCode(0),
              "Guards::Madvise \\(Linux 6.13\\)");
}

TEST(ContextPool, MakesNoGuardsWhenTheyAreOff) {
  ContextPool pool({.stack_bytes = 32 * 1024, .guards = Guards::Off});
  (void)acquire_many(pool, 10);
  EXPECT_EQ(pool.stats().guard_calls, 0U);
  EXPECT_EQ(pool.stats().mapped_bytes, 16U * 32 * 1024);
}

std::string refusal(std::size_t stack_bytes) {
  try {
    const ContextPool pool({.stack_bytes = stack_bytes});
    return "accepted";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(ContextPool, RefusesAnAbsurdStackSize) {
  EXPECT_EQ(refusal(1000), "StackOptions::stack_bytes is 1000, expected 16384 to 1073741824");
  EXPECT_EQ(refusal(SIZE_MAX),
            "StackOptions::stack_bytes is 18446744073709551615, expected 16384 to 1073741824");
  EXPECT_EQ(refusal(16 * 1024), "accepted");
}

// What follows spends the whole process's address space or mappings, so a child does it.
[[noreturn]] void report_exhaustion(StackOptions options) {
  ContextPool pool(options);
  std::vector<StackContext*> contexts;
  try {
    for (;;) contexts.push_back(&pool.acquire(&never_entered));
  } catch (const StackExhausted& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  if (pool.stats().live != contexts.size()) leave(2);
  pool.release(*contexts.back());
  (void)pool.acquire(&never_entered);
  leave(0);
}

TEST(ContextPoolExhaustion, NamesTheSizeWhenMemoryIsOut) {
  if (kSanitized) GTEST_SKIP() << "sanitizers die of it themselves";
  const auto starve = [] {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t limit = pages * 4096 + (64U << 20);
    const rlimit limits{limit, limit};
    ::setrlimit(RLIMIT_AS, &limits);
    report_exhaustion({});
  };
  EXPECT_EXIT(starve(), ::testing::ExitedWithCode(0),
              "^no stack of 256 KiB for a coroutine, [0-9]+ stacks live: mmap failed: Cannot "
              "allocate memory\n");
}

TEST(ContextPoolExhaustion, NamesTheCapWhenOthersTookTheMappings) {
  if (kSanitized) GTEST_SKIP() << "sanitizers die of it themselves";
  const auto map_and_start = [] {
    // Neighbours of unlike protection are not merged.
    for (int protection = PROT_NONE;; protection ^= PROT_READ) {
      void* const page = ::mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (page == MAP_FAILED) break;
    }
    try {
      ContextPool pool({});
      (void)pool.acquire(&never_entered);
    } catch (const StackExhausted& error) {
      std::fprintf(stderr, "%s\n", error.what());
      leave(0);
    }
  };
  EXPECT_EXIT(map_and_start(), ::testing::ExitedWithCode(0),
              "^no stack of 256 KiB for a coroutine, 0 stacks live: mmap failed: Cannot allocate "
              "memory; .*vm.max_map_count \\([0-9]+\\)");
}

TEST(ContextPoolExhaustion, NamesTheCapAndTheWayOutWhenMappingsAre) {
  EXPECT_EXIT(report_exhaustion({.stack_bytes = 16 * 1024, .guards = Guards::Mprotect}),
              ::testing::ExitedWithCode(0),
              "^no stack of 16 KiB for a coroutine, [0-9]+ stacks live: mprotect failed: Cannot "
              "allocate memory; .*vm.max_map_count \\([0-9]+\\).*Guards::Off");
}

}  // namespace
}  // namespace fermata
