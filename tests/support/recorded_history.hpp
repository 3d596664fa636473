// SPDX-License-Identifier: Apache-2.0
#pragma once

// Histories as plain data, for tests that make them up, change them, and judge them otherwise.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/sim/history/history.hpp"
#include "tests/support/splitmix.hpp"

namespace fermata::test {

template <class M>
struct RecordedOperation {
  std::size_t client = 0;
  typename M::Operation operation;
  std::optional<typename M::Result> result;  // None: no response.
  std::size_t invoked = 0;
  std::size_t responded = 0;

  [[nodiscard]] bool precedes(const RecordedOperation& other) const {
    return result && responded < other.invoked;
  }
};

template <class M>
using Recorded = std::vector<RecordedOperation<M>>;

template <class M>
sim::HistoryVerdict judged(const Recorded<M>& operations, sim::LinearizabilityLimits limits = {}) {
  sim::History<M> history("recorded");
  struct Event {
    std::size_t position;
    std::size_t operation;
    bool response;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    events.push_back({operations[i].invoked, i, false});
    if (operations[i].result) events.push_back({operations[i].responded, i, true});
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.position < b.position; });
  std::vector<std::optional<typename sim::History<M>::Call>> calls(operations.size());
  for (const Event& event : events) {
    const RecordedOperation<M>& each = operations[event.operation];
    if (event.response) {
      calls[event.operation]->responds(*each.result);
    } else {
      calls[event.operation].emplace(
          history.invoke("client " + std::to_string(each.client), each.operation));
    }
  }
  return history.check(limits);
}

/// Tries every order of every subset of the operations that may be left out.
template <class M>
class BruteForce {
 public:
  explicit BruteForce(const Recorded<M>& operations)
      : operations_(operations), placed_(operations.size()) {}

  bool explains() { return explains_from(model_.initial()); }

 private:
  bool explains_from(const typename M::State& state) {
    bool done = true;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (placed_[i]) continue;
      done = done && !operations_[i].result;
      if (!may_be_next(i)) continue;
      typename M::State next = state;
      const typename M::Result result = model_.step(next, operations_[i].operation);
      if (operations_[i].result && result != *operations_[i].result) continue;
      placed_[i] = true;
      const bool explained = explains_from(next);
      placed_[i] = false;
      if (explained) return true;
    }
    return done;
  }

  bool may_be_next(std::size_t operation) const {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (!placed_[i] && operations_[i].precedes(operations_[operation])) return false;
    }
    return true;
  }

  M model_;
  const Recorded<M>& operations_;
  std::vector<bool> placed_;
};

/// How many turns a client rests between two operations, on average.
constexpr std::size_t kRest = 6;

/// Partitions are numbers. What `clients` see of an object that does what the model says, each
/// operation at one moment between its two ends. One in `lost_answers` has no response, if not 0;
/// its client goes on.
template <class M, class MakeOperation>
Recorded<M> random_history(SplitMix& random, std::size_t clients, std::size_t operations,
                           std::size_t lost_answers, MakeOperation make) {
  enum class Phase { Idle, Invoked, Done };
  struct Client {
    Phase phase = Phase::Idle;
    std::size_t operation = 0;
    std::optional<typename M::Result> result;
  };
  const M model;
  std::map<std::size_t, typename M::State> states;  // By partition.
  const auto state_of = [&](const typename M::Operation& operation) -> typename M::State& {
    std::size_t partition = 0;
    if constexpr (sim::detail::HasPartitions<M>) {
      partition = static_cast<std::size_t>(model.partition(operation));
    }
    return states.try_emplace(partition, model.initial()).first->second;
  };
  std::vector<Client> all(clients);
  Recorded<M> history;
  std::size_t responses = 0;
  for (std::size_t now = 0; responses < operations; ++now) {
    const std::size_t number = random.below(clients);
    Client& client = all[number];
    switch (client.phase) {
      case Phase::Idle:
        if (!random.once_in(kRest)) break;
        if (history.size() == operations) {
          ++responses;
          break;
        }
        client.operation = history.size();
        history.push_back({number, make(random, number), std::nullopt, now, 0});
        client.phase = Phase::Invoked;
        break;
      case Phase::Invoked:
        client.result = model.step(state_of(history[client.operation].operation),
                                   history[client.operation].operation);
        client.phase = Phase::Done;
        break;
      case Phase::Done:
        if (lost_answers == 0 || !random.once_in(lost_answers)) {
          history[client.operation].result = client.result;
          history[client.operation].responded = now;
        }
        ++responses;
        client.phase = Phase::Idle;
        break;
    }
  }
  return history;
}

}  // namespace fermata::test
