// SPDX-License-Identifier: Apache-2.0
#pragma once

// A tree of futures as plain data: an outcome cell for each, and for each child the handler that
// makes it. Told of everything that happens, it says what must not have.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class FutureModel {
 public:
  enum class Kind : std::uint8_t { Source, Map, Catch, Finally };

  /// How a future ends; `number` tells values and errors apart.
  struct End {
    enum class What : std::uint8_t { Value, Error, Cancelled, Broken };
    What what = What::Value;
    std::uint32_t number = 0;

    [[nodiscard]] bool is_error() const { return what != What::Value; }
    bool operator==(const End&) const = default;
    [[nodiscard]] std::string text() const {
      constexpr const char* kNames[] = {"value", "error", "cancellation", "broken promise"};
      return std::string(kNames[static_cast<std::size_t>(what)]) + " " + std::to_string(number);
    }
  };

  [[nodiscard]] std::size_t size() const { return cells_.size(); }
  [[nodiscard]] bool completed(std::size_t cell) const { return cells_[cell].end.has_value(); }
  [[nodiscard]] const End& end_of(std::size_t cell) const { return *cells_[cell].end; }

  std::size_t add_source() { return add({.kind = Kind::Source}); }
  /// Returns the number of the child. On a completed source its handler runs in a walk of its own.
  std::size_t attach(Kind kind, std::size_t source) {
    const std::size_t child = add({.kind = kind, .source = source});
    if (completed(source)) {
      queue_in(next_walk_++, child);
    } else {
      cells_[source].children.push_back(child);
    }
    return child;
  }

  /// Somebody completes, cancels or breaks a pending cell: until that has returned, nothing runs.
  void call_begins(std::size_t cell, End end) {
    inside_call_ = true;
    cells_[cell].given = end;
  }
  [[nodiscard]] Complaint call_returned(std::size_t cell) {
    inside_call_ = false;
    return completed(cell) ? "" : "FUT-01 (WAKE): " + name(cell) + " is still pending";
  }

  /// The cell has told its subscribers how it ended.
  [[nodiscard]] Complaint settled(std::size_t cell, End end) {
    Cell& it = cells_[cell];
    if (it.end) return "FUT-01 (ONCE): " + name(cell) + " ended twice";
    const std::optional<End> due = it.given ? it.given : due_from_source(it);
    it.end = end;
    if (!due) return "FUT-05 (VAL): " + name(cell) + " ended before its handler had run";
    if (*due != end) {
      return "FUT-05 (VAL): " + name(cell) + " ended with " + end.text() + ", not " + due->text();
    }
    const bool in_walk = !it.given;
    const std::size_t walk = in_walk ? it.walk : next_walk_++;
    const Complaint complaint = in_walk ? take_turn(cell) : "";
    for (const std::size_t child : it.children) queue_in(walk, child);
    return complaint;
  }

  /// The handler that makes `cell` is called with how its source ended.
  [[nodiscard]] Complaint handler_begins(std::size_t cell, End with) {
    Cell& it = cells_[cell];
    if (inside_call_) return "FUT-02 (ORDER): a handler runs inside the call that completes";
    if (it.began) return "FUT-06 (ONCE): the handler of " + name(cell) + " runs twice";
    it.began = true;
    const Cell& source = cells_[it.source];
    if (!source.end) return "FUT-05 (ORDER): the handler of " + name(cell) + " runs too early";
    if (*source.end != with) return "FUT-03 (VAL): " + name(cell) + " got " + with.text();
    if (!applies(it))
      return "FUT-05 (VAL): the handler of " + name(cell) + " runs for " + with.text();
    return is_next(cell);
  }
  /// It has made `result`; nothing for a finally that did not throw.
  [[nodiscard]] Complaint handler_ended(std::size_t cell, std::optional<End> result) {
    Cell& it = cells_[cell];
    it.made = result ? result : cells_[it.source].end;
    return it.end ? take_turn(cell) : "";  // Cancelled meanwhile: it will not settle any more.
  }

  /// An awaiter got `end` from the cell.
  [[nodiscard]] Complaint delivered(std::size_t cell, End end) const {
    if (inside_call_) return "FUT-02 (ORDER): an awaiter runs inside the call that completes";
    if (!completed(cell))
      return "FUT-03 (ERR): " + name(cell) + " is pending and gave " + end.text();
    if (end_of(cell) == end) return {};
    return "FUT-03 (VAL): " + name(cell) + " gave " + end.text() + ", it ended with " +
           end_of(cell).text();
  }

  /// Everything has been completed, and everybody has had time.
  [[nodiscard]] Complaint at_end() const {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const Cell& it = cells_[i];
      if (!it.end) return "FUT-01 (WAKE): " + name(i) + " has never ended";
      if (it.kind != Kind::Source && applies(it) && !it.made) {
        return "FUT-06 (WAKE): the handler of " + name(i) + " has not run";
      }
    }
    return {};
  }

 private:
  struct Cell {
    Kind kind = Kind::Source;
    std::size_t source = 0;
    std::size_t walk = 0;
    std::vector<std::size_t> children = {};  // Attached while it was pending.
    std::optional<End> given = {};           // By a call from outside.
    std::optional<End> made = {};            // By its handler.
    std::optional<End> end = {};
    bool began = false;
  };

  std::size_t add(Cell cell) {
    cells_.push_back(std::move(cell));
    return cells_.size() - 1;
  }
  [[nodiscard]] static std::string name(std::size_t cell) {
    return "future " + std::to_string(cell);
  }

  /// Whether the handler is one for how its source ended.
  [[nodiscard]] bool applies(const Cell& it) const {
    return it.kind == Kind::Finally ||
           (it.kind == Kind::Catch) == cells_[it.source].end->is_error();
  }
  [[nodiscard]] std::optional<End> due_from_source(const Cell& it) const {
    if (it.kind == Kind::Source || !cells_[it.source].end) return std::nullopt;
    return applies(it) ? it.made : cells_[it.source].end;
  }

  // --- breadth first ---

  void queue_in(std::size_t walk, std::size_t child) {
    cells_[child].walk = walk;
    walks_[walk].push_back(child);
  }
  /// Checks that `cell` is the next of its walk. Cancelled ones without a running handler are
  /// skipped.
  [[nodiscard]] Complaint is_next(std::size_t cell) {
    std::deque<std::size_t>& walk = walks_[cells_[cell].walk];
    while (!walk.empty() && walk.front() != cell && cells_[walk.front()].given &&
           !applies(cells_[walk.front()])) {
      walk.pop_front();
    }
    if (!walk.empty() && walk.front() == cell) return {};
    return "FUT-06 (ORDER): it is not the turn of " + name(cell) +
           (walk.empty() ? "" : " but of that of " + std::to_string(walk.front()));
  }
  [[nodiscard]] Complaint take_turn(std::size_t cell) {
    Complaint complaint = is_next(cell);
    if (complaint.empty()) walks_[cells_[cell].walk].pop_front();
    return complaint;
  }

  std::vector<Cell> cells_;
  std::map<std::size_t, std::deque<std::size_t>> walks_;
  std::size_t next_walk_ = 0;
  bool inside_call_ = false;
};

}  // namespace fermata::models
