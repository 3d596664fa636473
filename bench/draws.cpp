// SPDX-License-Identifier: Apache-2.0

// One bounded draw; Fermata's is a decision of a simulated run, keyed and written on its tape.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "bench/floor/random.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"

namespace {

constexpr std::uint64_t kKey = 42;

void draw_floor(benchmark::State& state) {
  bench::Random random;
  for (auto _ : state) benchmark::DoNotOptimize(random.below(1'000));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(draw_floor)->Name("draw/floor");

void draw_fermata(benchmark::State& state) {
  constexpr int kDrawsInRun = 1'000;
  const auto strategy = fermata::sim::make_strategy("random");
  fermata::sim::Decisions decisions(*strategy);
  std::uint64_t seed = 0;
  for (auto _ : state) {
    decisions.begin(++seed);
    for (int i = 0; i < kDrawsInRun; ++i) {
      benchmark::DoNotOptimize(decisions.draw({.key = kKey, .bound = 1'000}));
    }
    decisions.end();
  }
  state.SetItemsProcessed(state.iterations() * kDrawsInRun);
}
BENCHMARK(draw_fermata)->Name("draw/fermata");

}  // namespace
