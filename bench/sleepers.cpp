// SPDX-License-Identifier: Apache-2.0

// 100,000 coroutines, each asleep once for up to a real second: the processor time of all of it.

#include <benchmark/benchmark.h>

#include "bench/floor/mini.hpp"
#include "bench/floor/random.hpp"
#include "bench/on_libuv.hpp"

namespace {

constexpr int kSleepers = 100'000;
constexpr std::uint64_t kLongest = 1'000'000'000;

void sleepers_floor(benchmark::State& state) {
  for (auto _ : state) {
    bench::mini::Scheduler scheduler(bench::mini::Time::Real);
    bench::Random random;
    int asleep = kSleepers;
    for (int i = 0; i < kSleepers; ++i) {
      const auto nanoseconds = static_cast<std::int64_t>(random.below(kLongest));
      scheduler.spawn([&, nanoseconds] {
        scheduler.sleep(nanoseconds);
        --asleep;
      });
    }
    while (asleep > 0) scheduler.sleep(kLongest / 100);
  }
}
BENCHMARK(sleepers_floor)
    ->Name("sleepers/floor/100000")
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void sleepers_fermata(benchmark::State& state) {
  for (auto _ : state) {
    bench::on_libuv([] {
      bench::Random random;
      for (int i = 0; i < kSleepers; ++i) {
        const fermata::Duration nap(random.below(kLongest));
        fermata::spawn([nap] { fermata::delay(nap); });
      }
    });
  }
}
BENCHMARK(sleepers_fermata)
    ->Name("sleepers/fermata/100000")
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
