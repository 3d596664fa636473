// SPDX-License-Identifier: Apache-2.0

// Resident bytes per started, parked coroutine. Each count is taken in a process of its own, where
// nothing has been freed before; page tables are not in the resident set.

#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "bench/floor/mini.hpp"

namespace {

std::int64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  long pages = 0;
  if (file == nullptr || std::fscanf(file, "%*s %ld", &pages) != 1) std::abort();
  std::fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

/// Runs `measure(count)`, which answers in bytes, in a forked child; an end without answer is an
/// error.
void report_bytes(benchmark::State& state, std::int64_t (*measure)(std::int64_t)) {
  for (auto _ : state) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t child = fork();
    if (child == 0) {
      const std::int64_t bytes = measure(state.range(0));
      _exit(write(ends[1], &bytes, sizeof bytes) == sizeof bytes ? 0 : 1);
    }
    close(ends[1]);
    std::int64_t bytes = 0;
    if (read(ends[0], &bytes, sizeof bytes) != sizeof bytes) state.SkipWithError("child failed");
    close(ends[0]);
    waitpid(child, nullptr, 0);
    state.counters["bytes"] = static_cast<double>(bytes) / static_cast<double>(state.range(0));
  }
}

std::int64_t idle_floor(std::int64_t count) {
  bench::mini::Scheduler scheduler;
  const std::int64_t before = resident_bytes();
  for (std::int64_t i = 0; i < count; ++i) scheduler.spawn([&] { scheduler.park(); });
  scheduler.yield();
  return resident_bytes() - before;
}

void memory_floor(benchmark::State& state) { report_bytes(state, idle_floor); }
BENCHMARK(memory_floor)->Name("memory/floor")->Arg(10'000)->Arg(200'000)->Iterations(1);

}  // namespace
