// SPDX-License-Identifier: Apache-2.0

// Boost.Fiber: what bench/channel.cpp does not measure of it. Its stacks are pooled, which makes a
// spawn six times as fast as with the default.

#include <benchmark/benchmark.h>

#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#include <boost/fiber/pooled_fixedsize_stack.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace {

namespace fibers = boost::fibers;

constexpr int kBatch = 1'000;
constexpr int kWarmUp = 10;  // Batches, until the pool has its stacks and their pages.

template <class Body>
fibers::fiber spawn(fibers::pooled_fixedsize_stack& stacks, Body&& body) {
  return fibers::fiber(std::allocator_arg, stacks, std::forward<Body>(body));
}

void yield(benchmark::State& state) {
  fibers::pooled_fixedsize_stack stacks;
  std::vector<fibers::fiber> others;
  bool done = false;
  for (std::int64_t i = 1; i < state.range(0); ++i) {
    others.push_back(spawn(stacks, [&] {
      while (!done) boost::this_fiber::yield();
    }));
  }
  boost::this_fiber::yield();
  for (auto _ : state) boost::this_fiber::yield();
  done = true;
  for (fibers::fiber& other : others) other.join();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(yield)->Name("yield/fiber")->Arg(2)->Arg(1'000)->Arg(10'000);

void spawn_finish(benchmark::State& state) {
  fibers::pooled_fixedsize_stack stacks;
  std::int64_t ended = 0;
  const auto batch = [&] {
    for (int i = 0; i < kBatch; ++i) spawn(stacks, [&ended] { ++ended; }).detach();
    boost::this_fiber::yield();
  };
  for (int i = 0; i < kWarmUp; ++i) batch();
  for (auto _ : state) batch();
  if (ended != (state.iterations() + kWarmUp) * kBatch) state.SkipWithError("some have not ended");
  state.SetItemsProcessed(state.iterations() * kBatch);
}
BENCHMARK(spawn_finish)->Name("spawn_finish/fiber/1000");

void spawn_await(benchmark::State& state) {
  fibers::pooled_fixedsize_stack stacks;
  std::int64_t ended = 0;
  for (auto _ : state) spawn(stacks, [&ended] { ++ended; }).join();
  state.SetItemsProcessed(ended);
}
BENCHMARK(spawn_await)->Name("spawn_await/fiber");

}  // namespace
