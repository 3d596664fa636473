// SPDX-License-Identifier: Apache-2.0

// Resident bytes per started, parked coroutine. Each count is taken in a process of its own, where
// nothing has been freed before; page tables are not in the resident set. Fermata's sleep in a
// delay, whose timer counts too.

#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "bench/floor/mini.hpp"
#include "bench/on_libuv.hpp"

namespace {

std::int64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  long pages = 0;
  if (file == nullptr || std::fscanf(file, "%*s %ld", &pages) != 1) std::abort();
  std::fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

int answer_pipe[2];

/// Ends the child at once: unwinding what it measured proves nothing.
[[noreturn]] void answer_and_exit(std::int64_t bytes) {
  _exit(write(answer_pipe[1], &bytes, sizeof bytes) == sizeof bytes ? 0 : 1);
}

void report_bytes(benchmark::State& state, void (*measure)(std::int64_t count)) {
  for (auto _ : state) {
    if (pipe(answer_pipe) != 0) std::abort();
    const pid_t child = fork();
    if (child == 0) measure(state.range(0));
    close(answer_pipe[1]);
    std::int64_t bytes = 0;
    if (read(answer_pipe[0], &bytes, sizeof bytes) != sizeof bytes) {
      state.SkipWithError("no answer from the child");
    }
    close(answer_pipe[0]);
    waitpid(child, nullptr, 0);
    state.counters["bytes"] = static_cast<double>(bytes) / static_cast<double>(state.range(0));
  }
}

void park_floor(std::int64_t count) {
  bench::mini::Scheduler scheduler;
  const std::int64_t before = resident_bytes();
  for (std::int64_t i = 0; i < count; ++i) scheduler.spawn([&] { scheduler.park(); });
  scheduler.yield();
  answer_and_exit(resident_bytes() - before);
}

void memory_floor(benchmark::State& state) { report_bytes(state, park_floor); }
BENCHMARK(memory_floor)->Name("memory/floor")->Arg(10'000)->Arg(200'000)->Iterations(1);

void park_fermata(std::int64_t count) {
  bench::on_libuv([count] {
    const std::int64_t before = resident_bytes();
    for (std::int64_t i = 0; i < count; ++i) {
      fermata::spawn([] { fermata::delay(std::chrono::hours(1)); });
    }
    fermata::suspend();
    answer_and_exit(resident_bytes() - before);
  });
}

void memory_fermata(benchmark::State& state) { report_bytes(state, park_fermata); }
BENCHMARK(memory_fermata)->Name("memory/fermata")->Arg(10'000)->Arg(200'000)->Iterations(1);

}  // namespace
