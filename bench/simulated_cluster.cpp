// SPDX-License-Identifier: Apache-2.0

// Five machines, an arbiter and four replicas of a log, for clients that ask a hundred times a
// second: how many virtual seconds pass in one, without faults, and with all of them, when most
// requests have to be made again. There is no floor.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bench/audited_run.hpp"
#include "examples/replication/replica.hpp"
#include "fermata/runtime.hpp"
#include "fermata/sim.hpp"
#include "fermata/sim/run/runner.hpp"

namespace {

using namespace std::chrono_literals;

constexpr int kClusterClients = 10;
constexpr fermata::Duration kInterval = 100ms;  // Between two requests of a client.
constexpr fermata::Duration kTime = 20s;
/// How many seeds a measurement takes, always the first ones: what one costs depends on its faults.
constexpr int kSeeds = 40;

/// Every fifth request has something new for the log, which stays short.
void ask_again_and_again(const Members& members, int& answered) {
  Client client(members);
  fermata::Instant next = fermata::now();
  for (int i = 0;; ++i) {
    if (i % 5 == 0) {
      client.append("entry" + std::to_string(i % 100));
    } else {
      benchmark::DoNotOptimize(client.read());
    }
    ++answered;
    next = std::max(next + kInterval, fermata::now());
    fermata::delay(next - fermata::now());
  }
}

/// Returns how many requests were answered.
int cluster(fermata::sim::World& world) {
  const auto shared = std::make_shared<Members>();  // With services, which end after the clients.
  Members& members = *shared;
  const auto arbiter = std::make_shared<Arbiter>();
  for (const char* name : {"arbiter", "one", "two", "three", "four"}) {
    fermata::sim::Node& node = world.service(name, [shared, arbiter, name = std::string(name)] {
      if (name == "arbiter") {
        serve(shared->at(name), arbiter);
      } else {
        run_replica(name, *shared);
      }
    });
    members.emplace(name, node.address(7000));
  }
  int answered = 0;
  world.node("clients", [&] {
    std::vector<fermata::Coroutine<>> clients;
    for (int i = 0; i < kClusterClients; ++i) {
      clients.push_back(fermata::spawn("client", [&] { ask_again_and_again(members, answered); }));
    }
    fermata::delay(kTime);
    for (const auto& client : clients) client.cancel();
  });
  world.run();
  return answered;
}

void cluster_fermata(benchmark::State& state, fermata::sim::FaultSet faults,
                     bench::RunOnce run_once) {
  fermata::sim::Program program;
  std::int64_t answered = 0;
  program.body = [&](fermata::sim::World& world) { answered += cluster(world); };
  fermata::sim::WorldOptions options;
  options.faults = faults;
  options.step_limit = std::numeric_limits<std::uint64_t>::max();
  fermata::sim::Runner runner(program, "random", options);
  std::uint64_t seed = 0;
  fermata::Duration passed{};
  for (auto _ : state) {
    const auto result = run_once(runner, ++seed);
    if (result.failure) state.SkipWithError(result.failure->message.c_str());
    passed += result.end - fermata::Instant{};
  }
  const double seconds = std::chrono::duration<double>(passed).count();
  state.SetItemsProcessed(static_cast<std::int64_t>(seconds));
  state.counters["answered in a virtual second"] = static_cast<double>(answered) / seconds;
}

BENCHMARK_CAPTURE(cluster_fermata, calm, fermata::sim::FaultSet::none(), bench::run_in_search)
    ->Name("calm_cluster/fermata")
    ->Arg(5)
    ->Iterations(kSeeds);
BENCHMARK_CAPTURE(cluster_fermata, calm_touched, fermata::sim::FaultSet::none(), bench::run_touched)
    ->Name("calm_cluster/touched")
    ->Arg(5)
    ->Iterations(kSeeds);
BENCHMARK_CAPTURE(cluster_fermata, faults, fermata::sim::FaultSet::all(), bench::run_in_search)
    ->Name("cluster/fermata")
    ->Arg(5)
    ->Iterations(kSeeds);
BENCHMARK_CAPTURE(cluster_fermata, faults_touched, fermata::sim::FaultSet::all(),
                  bench::run_touched)
    ->Name("cluster/touched")
    ->Arg(5)
    ->Iterations(kSeeds);

}  // namespace
