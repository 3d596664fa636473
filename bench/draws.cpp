// SPDX-License-Identifier: Apache-2.0

// One bounded draw.

#include <benchmark/benchmark.h>

#include "bench/floor/random.hpp"

namespace {

void draw_floor(benchmark::State& state) {
  bench::Random random;
  for (auto _ : state) benchmark::DoNotOptimize(random.below(1'000));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(draw_floor)->Name("draw/floor");

}  // namespace
