// SPDX-License-Identifier: Apache-2.0

// Checks a history of a map: 10,000 operations of 16 clients on 100 keys. The floor has an easier
// life: it knows in which order they took effect, and replays that on one map.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/sim.hpp"

namespace {

using Model = fermata::sim::models::Map<int, int>;
using History = fermata::sim::History<Model>;

constexpr std::size_t kClients = 16;
constexpr std::size_t kOperations = 10'000;
constexpr std::uint64_t kKeys = 100;

struct Made {
  std::vector<std::pair<Model::Operation, Model::Result>> order;  // In which they took effect.
  History history{"map"};
};

/// Each client in turn, by lot, invokes, lets the operation take effect, is answered, or rests.
void make(Made& made) {
  struct Client {
    int phase = 0;
    Model::Operation operation;
    Model::Result result;
    std::optional<History::Call> call;
  };
  const Model model;
  std::map<int, Model::State> states;
  std::vector<Client> clients(kClients);
  std::uint64_t seed = 1;
  const auto draw = [&seed](std::uint64_t bound) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return (seed >> 33U) % bound;
  };
  int next_value = 0;
  while (made.order.size() < kOperations) {
    const std::size_t number = draw(kClients);
    Client& client = clients[number];
    if (client.phase == 0 && draw(4) == 0) {
      const int key = static_cast<int>(draw(kKeys));
      if (draw(2) == 0) {
        client.operation = fermata::sim::models::Get<int>{key};
      } else {
        client.operation = fermata::sim::models::Put<int, int>{key, ++next_value};
      }
      client.call.emplace(made.history.invoke(std::to_string(number), client.operation));
      client.phase = 1;
    } else if (client.phase == 1) {
      client.result = model.step(states[model.partition(client.operation)], client.operation);
      made.order.emplace_back(client.operation, client.result);
      client.phase = 2;
    } else if (client.phase == 2) {
      client.call->responds(client.result);
      client.phase = 0;
    }
  }
}

const Made& made() {
  static Made* const all = [] {
    auto* fresh = new Made;
    make(*fresh);
    return fresh;
  }();
  return *all;
}

void linearizability_floor(benchmark::State& state) {
  const Model model;
  for (auto _ : state) {
    std::map<int, Model::State> states;
    for (const auto& [operation, result] : made().order) {
      if (model.step(states[model.partition(operation)], operation) != result) {
        state.SkipWithError("the replay does not agree");
      }
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kOperations));
}
BENCHMARK(linearizability_floor)->Name("linearizability/floor/10000");

void linearizability_fermata(benchmark::State& state) {
  for (auto _ : state) {
    if (made().history.check().answer != fermata::sim::Linearizability::Yes) {
      state.SkipWithError("the history is not found linearizable");
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kOperations));
}
BENCHMARK(linearizability_fermata)->Name("linearizability/fermata/10000");

}  // namespace
