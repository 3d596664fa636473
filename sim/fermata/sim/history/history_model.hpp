// SPDX-License-Identifier: Apache-2.0
#pragma once

// What History and its check ask of a model: what operations do when they come one after another.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/history/linearizability.hpp"

namespace fermata::sim {

/// The result of an operation that says nothing but that it is done.
struct Done {
  friend bool operator==(Done, Done) = default;
};

/// One of several things that an operation may do.
template <class State, class Result>
struct PossibleOutcome {
  State state;
  Result result;
};

namespace detail {

template <class M>
concept StepsOneWay = requires(const M& model, typename M::State& state,
                               const typename M::Operation& operation) {
  { model.step(state, operation) } -> std::convertible_to<typename M::Result>;
};

template <class M>
concept StepsSomeWay = requires(const M& model, const typename M::State& state,
                                const typename M::Operation& operation) {
  std::begin(model.outcomes(state, operation));  // Less to include than <ranges>.
};

template <class M>
concept HasPartitions = requires(const M& model, const typename M::Operation& operation) {
  { model.partition(operation) } -> std::totally_ordered;
};

template <class M>
concept KnowsReaders = requires(const M& model, const typename M::Operation& operation,
                                const typename M::Result& result) {
  { model.only_reads(operation, result) } -> std::convertible_to<bool>;
};

}  // namespace detail

/// State, Operation and Result are types; of a constant model
///
///   State initial()                          before any operation
///   Result step(State&, const Operation&)    what an operation does and answers; or, where more
///                                            than one thing is allowed,
///   range of PossibleOutcome<State, Result> outcomes(const State&, const Operation&)
///   uint64 hash(const State&)                equal for equal states
///   string text(const Operation&), text(const Result&)
///   ordered partition(const Operation&)      optional: operations of different partitions do not
///                                            see one another, and step() is given the state of the
///                                            operation's own. What is linearizable in each is
///                                            linearizable (Horn & Kroening, "Faster
///                                            linearizability checking via P-compositionality",
///                                            FORTE 2015), and much sooner found so.
///   bool only_reads(const Operation&, const Result&)
///                                            optional: with that result the operation leaves every
///                                            state as it is; makes the search much shorter
///
/// An operation that cannot end yet, as a lock that somebody else holds, answers something that
/// nobody records, and leaves the state as it is.
template <class M>
concept HistoryModel = std::equality_comparable<typename M::State> &&
    std::equality_comparable<typename M::Result> && std::copyable<typename M::State> &&
    std::copyable<typename M::Operation> &&
    (detail::StepsOneWay<M> ||
     detail::StepsSomeWay<M>)&&requires(const M& model, const typename M::State& state,
                                        const typename M::Operation& operation,
                                        const typename M::Result& result) {
  { model.initial() } -> std::convertible_to<typename M::State>;
  { model.hash(state) } -> std::convertible_to<std::uint64_t>;
  { model.text(operation) } -> std::convertible_to<std::string>;
  { model.text(result) } -> std::convertible_to<std::string>;
};

namespace detail {

/// Gives states numbers: equal ones the same, in the order in which they are first met.
template <class M>
class StateTable {
 public:
  explicit StateTable(const M& model) : model_(model), slots_(64, kEmpty) {}

  std::uint32_t number_of(typename M::State state) {
    FERMATA_ASSERT(entries_.size() < slots_.size());
    const std::uint64_t hash = spread(model_.hash(state));
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at] != kEmpty; at = (at + 1) & (slots_.size() - 1)) {
      const Entry& entry = entries_[slots_[at]];
      if (entry.hash == hash && entry.state == state) return slots_[at];
    }
    const auto number = static_cast<std::uint32_t>(entries_.size());
    slots_[at] = number;
    entries_.push_back(Entry{std::move(state), hash});
    if (entries_.size() * 2 > slots_.size()) grow();
    return number;
  }

  [[nodiscard]] const typename M::State& operator[](std::uint32_t number) const {
    FERMATA_ASSERT(number < entries_.size());
    return entries_[number].state;
  }

 private:
  struct Entry {
    typename M::State state;
    std::uint64_t hash;
  };
  static constexpr std::uint32_t kEmpty = OperationSpan::kNever;

  static std::uint64_t spread(std::uint64_t hash) noexcept {
    hash *= 0x9e3779b97f4a7c15;
    return hash ^ (hash >> 32U);
  }

  void grow() {
    slots_.assign(slots_.size() * 2, kEmpty);
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      std::size_t at = entries_[i].hash & (slots_.size() - 1);
      while (slots_[at] != kEmpty) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i;
    }
  }

  const M& model_;
  std::deque<Entry> entries_;  // References to states stay good.
  std::vector<std::uint32_t> slots_;
};

/// A model and what was asked of it. `Operations` has at each place an operation and, if there was
/// a response, a result.
template <class M, class Operations>
class ModelSemantics final : public Semantics {
 public:
  ModelSemantics(const M& model, const Operations& operations)
      : model_(model), operations_(operations), states_(model) {}

  std::uint32_t initial_state() override { return states_.number_of(model_.initial()); }

  void expand(std::uint32_t number, bool loose, std::uint32_t from,
              std::vector<std::uint32_t>& to) override {
    const auto& [operation, result] = operations_[number];
    FERMATA_ASSERT(loose || result.has_value());
    if constexpr (StepsOneWay<M>) {
      typename M::State state = states_[from];
      const typename M::Result answer = model_.step(state, operation);
      if (loose || answer == *result) to.push_back(states_.number_of(std::move(state)));
    } else {
      for (auto&& [state, answer] : model_.outcomes(states_[from], operation)) {
        if (loose || answer == *result) to.push_back(states_.number_of(state));
      }
    }
  }

 private:
  const M& model_;
  const Operations& operations_;
  StateTable<M> states_;
};

}  // namespace detail
}  // namespace fermata::sim
