// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who asked for what and when, without knowing what the operations mean; and how such a record is
// judged and shown. History<Model> (history.hpp) is what users have.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/sim/history/linearizability.hpp"

namespace fermata::sim {

class World;

/// How much a check may do.
struct LinearizabilityLimits {
  /// Pairs of state and set of operations that may be visited for each partition. When there are
  /// more the answer is Undecided, which fails a run.
  std::uint64_t configurations = 1'000'000;
  /// How many of these pairs all searches together may visit that make a counterexample smaller.
  std::uint64_t shrinking = 200'000;
};

/// The result of checking a history.
struct HistoryVerdict {
  Linearizability answer = Linearizability::Yes;
  /// How many pairs of state and set of operations were visited.
  std::uint64_t configurations = 0;
  /// Operations that cannot be explained together, whatever the others did, in the order of their
  /// invocations; positions in the history. Empty when the answer is another.
  std::vector<std::size_t> counterexample;
  /// The one of them whose response nothing explains.
  std::optional<std::size_t> unexplained;
  /// The longest list of them that can be explained, in an order that explains them.
  std::vector<std::size_t> longest_order;
};

namespace detail {

/// When something was noted.
struct HistoryMoment {
  Instant at;
  std::uint64_t step = 0;
  /// In the one order of all invocations and responses of a history.
  std::uint32_t position = 0;
};

class HistoryRecord {
 public:
  HistoryRecord(const HistoryRecord&) = delete;
  HistoryRecord& operator=(const HistoryRecord&) = delete;

  /// Number of operations, without those that did not happen.
  [[nodiscard]] std::size_t size() const noexcept { return operations_.size(); }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// One line for each invocation and response of the counterexample, with a column for each
  /// client; then what cannot be explained. Empty when there is no counterexample.
  [[nodiscard]] std::string text(const HistoryVerdict& verdict) const;
  /// The whole history and the verdict as a JSON object.
  [[nodiscard]] std::string json(const HistoryVerdict& verdict) const;

 protected:
  /// `world` gives times and steps; without one they are zero.
  HistoryRecord(World* world, std::string name);
  virtual ~HistoryRecord() = default;

  std::size_t note_invocation(std::string_view client);
  void note_response(std::size_t operation);
  void forget(std::size_t operation);
  [[nodiscard]] bool is_open(std::size_t operation) const noexcept;

  /// `partitions` has a number for each operation; each partition is judged by itself.
  [[nodiscard]] HistoryVerdict judge(const std::vector<std::uint32_t>& partitions,
                                     Semantics& semantics,
                                     const LinearizabilityLimits& limits) const;
  /// The failure of the run that `verdict` is, if it is one; the world keeps the JSON of both.
  /// UsageError when there is no run.
  void report(const HistoryVerdict& verdict, const LinearizabilityLimits& limits) const;

  /// Nobody has judged it, since the run has failed before: the world keeps it as it is.
  void leave_unjudged() const;

  /// Whether something was noted since the last call of report().
  [[nodiscard]] bool is_unjudged() const noexcept { return unjudged_; }
  [[nodiscard]] bool run_goes_on() const noexcept;

 private:
  struct Operation {
    std::size_t client = 0;
    HistoryMoment invoked;
    std::optional<HistoryMoment> responded;
    bool happened = true;  // Or may have.
  };

  /// Whether the operation, which has a result, cannot have changed the state.
  [[nodiscard]] virtual bool only_reads(std::size_t operation) const = 0;
  [[nodiscard]] virtual std::string operation_text(std::size_t operation) const = 0;
  [[nodiscard]] virtual std::string result_text(std::size_t operation) const = 0;

  [[nodiscard]] HistoryMoment present();
  void keep(const HistoryVerdict* verdict) const;
  [[nodiscard]] std::string json_text(const HistoryVerdict* verdict) const;
  [[nodiscard]] std::vector<std::vector<OperationSpan>> spans_of(
      const std::vector<std::uint32_t>& partitions) const;
  [[nodiscard]] std::string sentence(std::size_t operation) const;
  [[nodiscard]] std::string table(const HistoryVerdict& verdict) const;

  World* world_;
  std::string name_;
  std::vector<std::string> clients_;
  std::vector<Operation> operations_;
  std::uint32_t positions_ = 0;
  mutable bool unjudged_ = false;
  mutable std::optional<std::size_t> kept_;  // As World::keep_history has it.
};

}  // namespace detail
}  // namespace fermata::sim
