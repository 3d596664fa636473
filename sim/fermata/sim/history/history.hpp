// SPDX-License-Identifier: Apache-2.0
#pragma once

// What clients asked of something shared and what they were answered, checked for linearizability:
// each operation seems to happen at one moment between its invocation and its response.
//
//   History<models::Register<>> history(world, "register");
//   auto write = history.invoke("Ada", models::Write{3});  // in one coroutine
//   ...                                                    // a request, a wait, an answer
//   write.responds();
//   int seen = history.call("Bob", models::Read{}, [&] { return store.read(); });
//   history.expect_linearizable();
//
// No answer   An operation whose Call goes without a response, since its coroutine was cancelled,
//             has timed out or was on a machine that crashed, may have taken effect or not, or take
//             effect at any later time.
// Clients     Names for the reader, and columns in the report. One may have several operations
//             under way.
// Failure     Safety, with the signature "history '<name>' is not linearizable"; the explanation is
//             a counterexample made small.
// Lifetime    A History may be shared by all machines of a world, and must outlive the calls of
//             responds(); Calls may be destroyed after it.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/history/history_model.hpp"
#include "fermata/sim/history/history_models.hpp"
#include "fermata/sim/history/history_record.hpp"

namespace fermata::sim {

template <HistoryModel M>
class History final : public detail::HistoryRecord {
 public:
  using Operation = typename M::Operation;
  using Result = typename M::Result;

  /// An operation under way.
  class [[nodiscard]] Call {
   public:
    Call(Call&&) noexcept = default;
    Call& operator=(Call&&) noexcept = default;

    /// Now the client knows `result`. UsageError when the operation has ended already.
    void responds(Result result) const { history_->respond(number_, std::move(result)); }
    /// Now the client knows that the operation is done; for models whose result says nothing else.
    /// UsageError when the operation has ended already.
    void responds() const requires std::constructible_from<Result, Done> {
      responds(Result(Done{}));
    }
    /// The client knows that the operation has not taken effect and never will: it is not part of
    /// the history. UsageError when it has ended already.
    void did_not_happen() const { history_->forget(number_); }

   private:
    friend class History;
    Call(History& history, std::size_t number) noexcept : history_(&history), number_(number) {}

    History* history_;
    std::size_t number_;
  };

  /// A history of the run of `world`, which gives the times.
  History(World& world, std::string name, M model = {})
      : HistoryRecord(&world, std::move(name)), model_(std::move(model)) {}
  /// A history outside of any run, for check() alone.
  explicit History(std::string name, M model = {})
      : HistoryRecord(nullptr, std::move(name)), model_(std::move(model)) {}

  /// Judges what was not judged yet, unless it goes in the wake of an exception.
  ~History() override {
    if (!is_unjudged()) return;
    if (std::uncaught_exceptions() == exceptions_ && run_goes_on()) {
      expect_linearizable();
    } else {
      leave_unjudged();
    }
  }

  Call invoke(std::string_view client, Operation operation) {
    entries_.push_back(Entry{std::move(operation), std::nullopt});
    const std::size_t number = note_invocation(client);
    FERMATA_ASSERT(number + 1 == entries_.size());
    return Call(*this, number);
  }

  /// Records `action` as an operation: its return value is the result, if any. An exception leaves
  /// the operation without a response.
  template <class Action>
  auto call(std::string_view client, Operation operation, Action&& action) {
    const Call call = invoke(client, std::move(operation));
    if constexpr (std::is_void_v<std::invoke_result_t<Action>>) {
      std::invoke(std::forward<Action>(action));
      call.responds();
    } else {
      auto result = std::invoke(std::forward<Action>(action));
      call.responds(Result(result));
      return result;
    }
  }

  [[nodiscard]] HistoryVerdict check(const LinearizabilityLimits& limits = {}) const {
    detail::ModelSemantics<M, std::vector<Entry>> semantics(model_, entries_);
    return judge(partitions(), semantics, limits);
  }

  /// The run fails when the history is not linearizable, or when that is not decided within the
  /// limits. UsageError when the history is of no run.
  void expect_linearizable(const LinearizabilityLimits& limits = {}) const {
    report(check(limits), limits);
  }

 private:
  struct Entry {
    Operation operation;
    std::optional<Result> result;
  };

  void respond(std::size_t number, Result result) {
    FERMATA_ASSERT(number < entries_.size());
    note_response(number);
    FERMATA_ASSERT(!entries_[number].result.has_value());
    entries_[number].result = std::move(result);
  }

  [[nodiscard]] std::vector<std::uint32_t> partitions() const {
    std::vector<std::uint32_t> numbers(entries_.size());
    if constexpr (detail::HasPartitions<M>) {
      std::map<std::decay_t<decltype(model_.partition(entries_.front().operation))>, std::uint32_t>
          known;
      for (std::size_t i = 0; i < entries_.size(); ++i) {
        const auto next = static_cast<std::uint32_t>(known.size());
        numbers[i] = known.try_emplace(model_.partition(entries_[i].operation), next).first->second;
      }
    }
    return numbers;
  }

  [[nodiscard]] bool only_reads(std::size_t number) const override {
    FERMATA_ASSERT(entries_[number].result.has_value());
    if constexpr (detail::KnowsReaders<M>) {
      return model_.only_reads(entries_[number].operation, *entries_[number].result);
    } else {
      return false;
    }
  }
  [[nodiscard]] std::string operation_text(std::size_t number) const override {
    FERMATA_ASSERT(number < entries_.size());
    return model_.text(entries_[number].operation);
  }
  [[nodiscard]] std::string result_text(std::size_t number) const override {
    FERMATA_ASSERT(entries_[number].result.has_value());
    return model_.text(*entries_[number].result);
  }

  M model_;
  std::vector<Entry> entries_;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace fermata::sim
