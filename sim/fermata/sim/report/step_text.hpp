// SPDX-License-Identifier: Apache-2.0
#pragma once

// What happened in one step, for people: a clause for each thing.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim {

/// Describes the steps of one run, which must outlive this.
class StepText {
 public:
  explicit StepText(const RunLog& run_log);

  /// In this order: what it received, whom it spawned, woke and cancelled and what it printed
  /// meanwhile, what it asked of its machine, what it sent, and how it ended. `step` is its index
  /// among the kept ones.
  [[nodiscard]] std::vector<std::string> clauses(std::size_t step) const;

  /// The clauses that have an effect on others or are a surprise: messages with bytes, files,
  /// output, cancellations and errors. Not how a coroutine spawns, waits and is woken, and not how
  /// a connection is made.
  [[nodiscard]] std::vector<std::string> telling_clauses(std::size_t step) const;
  /// Whether it has done nothing but let others go first, and nobody has.
  [[nodiscard]] bool has_only_gone_on(std::size_t step) const;

 private:
  struct Clause {
    std::string text;
    bool is_telling = false;
    bool is_wake = false;
  };

  [[nodiscard]] std::vector<Clause> all_clauses(std::size_t step) const;
  /// The messages that it received, then those that it sent.
  [[nodiscard]] bool goes_on(std::size_t step) const;
  [[nodiscard]] std::vector<const Message*> messages_of(std::size_t step) const;
  void add_woken_and_printed(std::vector<Clause>& clauses, std::size_t index) const;
  [[nodiscard]] std::string woken_text(std::string_view verb,
                                       const std::vector<std::size_t>& whom) const;

  const RunLog& run_log_;
  // By step, counted from the run's first one.
  std::multimap<std::size_t, const Message*> sent_;
  std::multimap<std::size_t, const RunLog::Line*> printed_;
};

/// What a coroutine waits for, as short as possible: "Request #7 (read) or Timer #8
/// (timeout=300ms, ...)" becomes "read or 300 ms".
[[nodiscard]] std::string wait_text(std::string_view reason);

/// "'writer'", with the machine's name before it when there are several machines.
[[nodiscard]] std::string lane_text(const RunLog& run_log, std::size_t lane);

/// "file.cpp:12".
[[nodiscard]] std::string short_place(const SourcePlace& place);

}  // namespace fermata::sim
