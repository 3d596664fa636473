// SPDX-License-Identifier: Apache-2.0

// A resource is idle: an item is one acquire with its release. The floor yields.

#include <benchmark/benchmark.h>

#include "bench/floor/yield_between_two.hpp"
#include "bench/on_libuv.hpp"

namespace {

using bench::yield_between_two;
BENCHMARK(yield_between_two)->Name("pool/floor");

void pool_fermata(benchmark::State& state) {
  bench::on_libuv([&] {
    fermata::Pool<int> pool({.factory = [] { return 1; }});
    pool.acquire().release();
    for (auto _ : state) {
      auto lease = pool.acquire();
      benchmark::DoNotOptimize(*lease);
      lease.release();
    }
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(pool_fermata)->Name("pool/fermata");

}  // namespace
