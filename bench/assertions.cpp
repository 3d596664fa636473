// SPDX-License-Identifier: Apache-2.0

// What an assertion costs in production: FERMATA_ALWAYS beside the plain check that one would write
// by hand, FERMATA_SOMETIMES beside a test of a thread's null pointer.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>

#include "bench/on_libuv.hpp"

namespace {

constinit thread_local const int* nobody = nullptr;

void always_floor(benchmark::State& state) {
  std::uint64_t number = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(++number);
    if (number == 0) [[unlikely]] {
      std::abort();
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(always_floor)->Name("always/floor");

void always_fermata(benchmark::State& state) {
  bench::on_libuv([&] {
    std::uint64_t number = 0;
    for (auto _ : state) {
      benchmark::DoNotOptimize(++number);
      FERMATA_ALWAYS(number != 0, "a counter does not come round", "number", number);
    }
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(always_fermata)->Name("always/fermata");

void sometimes_floor(benchmark::State& state) {
  std::uint64_t number = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(++number);
    benchmark::ClobberMemory();
    if (nobody != nullptr) [[unlikely]] {
      std::abort();
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(sometimes_floor)->Name("sometimes/floor");

void sometimes_fermata(benchmark::State& state) {
  bench::on_libuv([&] {
    std::uint64_t number = 0;
    for (auto _ : state) {
      benchmark::DoNotOptimize(++number);
      benchmark::ClobberMemory();
      FERMATA_SOMETIMES(number > 1'000, "many are counted");
    }
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(sometimes_fermata)->Name("sometimes/fermata");

}  // namespace
