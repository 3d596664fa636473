// SPDX-License-Identifier: Apache-2.0

// Two coroutines answer each other through futures: an item is one promise made, one await that
// parks, one complete, and the switch to who awaited. The floor yields.

#include <benchmark/benchmark.h>

#include "bench/floor/yield_between_two.hpp"
#include "bench/on_libuv.hpp"

namespace {

using bench::yield_between_two;
BENCHMARK(yield_between_two)->Name("future_complete_await/floor");

void future_complete_await_fermata(benchmark::State& state) {
  bench::on_libuv([&] {
    fermata::Promise<int> question;
    fermata::Promise<int> answer;
    bool done = false;
    const auto peer = fermata::spawn([&] {
      while (!done) {
        const auto asked = question.future();
        answer.complete(1);
        fermata::await(asked);
        question = fermata::Promise<int>();
      }
    });
    fermata::await(answer.future());
    for (auto _ : state) {
      answer = fermata::Promise<int>();
      const auto answered = answer.future();
      question.complete(1);
      fermata::await(answered);
    }
    done = true;
    question.complete(1);
    fermata::await(peer);
    question.ignore();
  });
  state.SetItemsProcessed(state.iterations() * 2);
}
BENCHMARK(future_complete_await_fermata)->Name("future_complete_await/fermata");

}  // namespace
