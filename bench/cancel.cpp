// SPDX-License-Identifier: Apache-2.0

// Coroutines that are cancelled while they wait. The floor is what the language takes: an exception
// that is there already is thrown through as many frames, and caught.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <vector>

#include "bench/on_libuv.hpp"

namespace {

constexpr int kCancelledAtOnce = 1'000;

template <int kFrames>
[[gnu::noinline]] void throw_through(const std::exception_ptr& error) {
  if constexpr (kFrames == 0) {
    std::rethrow_exception(error);
  } else {
    throw_through<kFrames - 1>(error);
    benchmark::ClobberMemory();  // So that the call above is not a tail call.
  }
}

void cancel_floor(benchmark::State& state) {
  const auto error = std::make_exception_ptr(fermata::Cancellation());
  for (auto _ : state) {
    try {
      throw_through<3>(error);  // The delay, the wait, the body.
    } catch (const fermata::Cancellation&) {
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(cancel_floor)->Name("cancel/floor");

void cancel_fermata(benchmark::State& state) {
  bench::on_libuv([&] {
    std::vector<fermata::Coroutine<>> sleepers;
    for (auto _ : state) {
      for (int i = 0; i < kCancelledAtOnce; ++i) {
        sleepers.push_back(fermata::spawn([] { fermata::delay(std::chrono::hours(1)); }));
      }
      fermata::suspend();
      for (const fermata::Coroutine<>& sleeper : sleepers) sleeper.cancel();
      fermata::suspend();
      sleepers.clear();
    }
  });
  state.SetItemsProcessed(state.iterations() * kCancelledAtOnce);
}
BENCHMARK(cancel_fermata)->Name("cancel/fermata");

}  // namespace
