// SPDX-License-Identifier: Apache-2.0

// Channels of two coroutines. A round trip is a message there and one back, without a buffer (the
// floor's has room for one, which is no more work); a message is one of many through a buffer.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "bench/floor/channel.hpp"
#include "bench/floor/mini.hpp"
#include "bench/on_libuv.hpp"

#ifdef FERMATA_BENCH_FIBER
#include <boost/fiber/buffered_channel.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/unbuffered_channel.hpp>
#endif

namespace {

constexpr std::int64_t kEnd = -1;

// --- round trip ---

void round_trip_floor(benchmark::State& state) {
  bench::mini::Scheduler scheduler;
  bench::mini::Channel<std::int64_t> there(scheduler, 1);
  bench::mini::Channel<std::int64_t> back(scheduler, 1);
  scheduler.spawn([&] {
    for (;;) {
      const std::int64_t value = there.recv();
      back.send(value);
      if (value == kEnd) return;
    }
  });
  std::int64_t value = 0;
  for (auto _ : state) {
    there.send(value);
    value = back.recv() + 1;
  }
  there.send(kEnd);
  back.recv();
  scheduler.yield();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(round_trip_floor)->Name("channel_round_trip/floor");

void round_trip_fermata(benchmark::State& state) {
  bench::on_libuv([&] {
    const fermata::Channel<std::int64_t> there("there", 0);
    const fermata::Channel<std::int64_t> back("back", 0);
    const auto peer = fermata::spawn([&] {
      for (;;) {
        const std::int64_t value = there.recv();
        back.send(value);
        if (value == kEnd) return;
      }
    });
    std::int64_t value = 0;
    for (auto _ : state) {
      there.send(value);
      value = back.recv() + 1;
    }
    there.send(kEnd);
    static_cast<void>(back.recv());
    fermata::await(peer);
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(round_trip_fermata)->Name("channel_round_trip/fermata");

#ifdef FERMATA_BENCH_FIBER
void round_trip_fiber(benchmark::State& state) {
  boost::fibers::unbuffered_channel<std::int64_t> there;
  boost::fibers::unbuffered_channel<std::int64_t> back;
  boost::fibers::fiber peer([&] {
    for (;;) {
      const std::int64_t value = there.value_pop();
      back.push(value);
      if (value == kEnd) return;
    }
  });
  std::int64_t value = 0;
  for (auto _ : state) {
    there.push(value);
    value = back.value_pop() + 1;
  }
  there.push(kEnd);
  back.value_pop();
  peer.join();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(round_trip_fiber)->Name("channel_round_trip/fiber");
#endif

// --- message ---

void message_floor(benchmark::State& state) {
  bench::mini::Scheduler scheduler;
  bench::mini::Channel<std::int64_t> channel(scheduler, static_cast<std::size_t>(state.range(0)));
  bool done = false;
  scheduler.spawn([&] {
    std::int64_t value = 0;
    while (!done) channel.send(value++);
    channel.send(kEnd);
  });
  for (auto _ : state) benchmark::DoNotOptimize(channel.recv());
  done = true;
  while (channel.recv() != kEnd) continue;
  scheduler.yield();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(message_floor)->Name("channel_message/floor")->Arg(128);

void message_fermata(benchmark::State& state) {
  bench::on_libuv([&] {
    const fermata::Channel<std::int64_t> channel("messages",
                                                 static_cast<std::size_t>(state.range(0)));
    bool done = false;
    fermata::spawn([&] {
      std::int64_t value = 0;
      while (!done) channel.send(value++);
      channel.send(kEnd);
    });
    for (auto _ : state) benchmark::DoNotOptimize(channel.recv());
    done = true;
    while (channel.recv() != kEnd) continue;
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(message_fermata)->Name("channel_message/fermata")->Arg(128);

#ifdef FERMATA_BENCH_FIBER
void message_fiber(benchmark::State& state) {
  boost::fibers::buffered_channel<std::int64_t> channel(static_cast<std::size_t>(state.range(0)));
  bool done = false;
  boost::fibers::fiber producer([&] {
    std::int64_t value = 0;
    while (!done) channel.push(value++);
    channel.push(kEnd);
  });
  for (auto _ : state) benchmark::DoNotOptimize(channel.value_pop());
  done = true;
  while (channel.value_pop() != kEnd) continue;
  producer.join();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(message_fiber)->Name("channel_message/fiber")->Arg(128);
#endif

}  // namespace
