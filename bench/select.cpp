// SPDX-License-Identifier: Apache-2.0

// A select of a channel, a connection to accept and a timer, of which the channel has a value. The
// floor is a plain receive from such a channel.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "bench/on_libuv.hpp"
#include "fermata/io/select_accept.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sync/select.hpp"

namespace {

constexpr std::int64_t kBatch = 10'000;

/// Times `receive`, once for each value; the values are put in beside the clock.
template <class Receive>
void receive_batches(benchmark::State& state, const fermata::Channel<std::int64_t>& channel,
                     Receive receive) {
  for (auto _ : state) {
    state.PauseTiming();
    for (std::int64_t i = 0; i < kBatch; ++i) channel.send(i);
    state.ResumeTiming();
    for (std::int64_t i = 0; i < kBatch; ++i) receive();
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}

void plain_receive(benchmark::State& state) {
  bench::on_libuv([&] {
    const fermata::Channel<std::int64_t> channel("values", kBatch);
    receive_batches(state, channel, [&] { benchmark::DoNotOptimize(channel.recv()); });
  });
}
BENCHMARK(plain_receive)->Name("select/floor");

void select_of_three(benchmark::State& state) {
  bench::on_libuv([&] {
    const fermata::Channel<std::int64_t> channel("values", kBatch);
    const auto listener = fermata::TcpListener::bind(fermata::Address("127.0.0.1", 0));
    receive_batches(state, channel, [&] {
      fermata::select(
          fermata::on_receive(
              channel, [](std::optional<std::int64_t> value) { benchmark::DoNotOptimize(value); }),
          fermata::on_accept(listener, [](std::optional<fermata::TcpStream>) {}),
          fermata::on_timeout(std::chrono::seconds(1), [] {}));
    });
  });
}
BENCHMARK(select_of_three)->Name("select/fermata");

}  // namespace
