// SPDX-License-Identifier: Apache-2.0

// Pairs of machines that send each other 64 bytes to and fro, each pair on a connection of its own:
// an item is one message, with its trace hash. Fermata's run with the default audit and without
// faults, which would be more work than the floor's.

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "bench/audited_run.hpp"
#include "bench/floor/network.hpp"
#include "fermata/runtime.hpp"
#include "fermata/sim.hpp"
#include "fermata/sim/run/runner.hpp"

namespace {

constexpr std::int64_t kMessages = 100'000;

void ping_pong_floor(benchmark::State& state) {
  const auto pairs = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    bench::MiniNetwork network(2 * pairs);
    for (std::size_t pair = 0; pair < pairs; ++pair) network.send(2 * pair, 2 * pair + 1, {});
    network.run(kMessages, [&](std::size_t node, const bench::MiniNetwork::Message& message) {
      network.send(node, node ^ 1, message);
    });
    benchmark::DoNotOptimize(network.trace_hash());
  }
  state.SetItemsProcessed(state.iterations() * kMessages);
}
BENCHMARK(ping_pong_floor)->Name("ping_pong/floor")->Arg(1)->Arg(10)->Arg(50)->Arg(100);

/// Sends back what it gets, until the peer ends.
void pong() {
  auto listener = fermata::TcpListener::bind({"0.0.0.0", 7});
  auto peer = listener.accept();
  std::array<std::byte, 64> message;
  while (peer->read(message) > 0) peer->write(message);
}

void ping(const fermata::Address& peer, std::int64_t times) {
  auto stream = fermata::TcpStream::connect(peer);
  std::array<std::byte, 64> message{};
  for (; times > 0; --times) {
    stream.write(message);
    stream.read_exact(message);
  }
}

void ping_pong_fermata(benchmark::State& state, bench::RunOnce run_once) {
  const std::int64_t pairs = state.range(0);
  const std::int64_t times = kMessages / (2 * pairs);
  fermata::sim::Program program;
  program.body = [&](fermata::sim::World& world) {
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      const std::string name = std::to_string(pair);
      fermata::sim::Node& server = world.node("pong " + name, pong);
      world.node("ping " + name, [&server, times] { ping(server.address(7), times); });
    }
    world.run();
  };
  fermata::sim::WorldOptions options;
  options.faults = fermata::sim::FaultSet::none();
  options.step_limit = std::numeric_limits<std::uint64_t>::max();
  options.instant_limit = options.step_limit;
  fermata::sim::Runner runner(program, "fifo", options);
  std::uint64_t seed = 0;
  for (auto _ : state) {
    const auto result = run_once(runner, ++seed);
    if (result.failure) state.SkipWithError(result.failure->message.c_str());
    benchmark::DoNotOptimize(result.trace_hash);
  }
  state.SetItemsProcessed(state.iterations() * times * 2 * pairs);
}
BENCHMARK_CAPTURE(ping_pong_fermata, in_search, bench::run_in_search)
    ->Name("ping_pong/fermata")
    ->Arg(1)
    ->Arg(10)
    ->Arg(50)
    ->Arg(100);
BENCHMARK_CAPTURE(ping_pong_fermata, touched, bench::run_touched)
    ->Name("ping_pong/touched")
    ->Arg(1)
    ->Arg(50);

}  // namespace
