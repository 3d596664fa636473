// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/step_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/report/step_choice.hpp"
#include "fermata/sim/report/step_text.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kTimeWidth = 17;
constexpr std::size_t kLeastColumnWidth = 27;
constexpr std::size_t kMostColumns = 4;
constexpr std::size_t kMostWidth = kMostColumns * kLeastColumnWidth;  // All columns.

/// Something that happened: at equal times in the order of the run, a decision before what follows
/// from it.
struct Row {
  enum class Kind : std::uint8_t { Turn, Disturbance, Line, Step };

  Instant at;
  std::size_t step;  // From the run's first one: which it is, or which comes next.
  Kind kind;
  std::size_t index;  // In the run log.

  friend bool operator<(const Row& a, const Row& b) {
    return std::tie(a.at, a.step, a.kind, a.index) < std::tie(b.at, b.step, b.kind, b.index);
  }
};

class Table {
 public:
  Table(const RunLog& run_log, const KeyNames& names, const TableOptions& options)
      : run_log_(run_log), names_(names), options_(options), step_text_(run_log) {
    options_.to = std::min(options_.to, run_log.forgotten() + run_log.steps().size());
    options_.from = std::max(options_.from, run_log.forgotten());
  }

  std::string text() && {
    if (options_.from >= options_.to) return {};
    choice_ = choose_steps(run_log_, step_text_, names_,
                           {.from = options_.from,
                            .to = options_.to,
                            .lines = options_.lines,
                            .blocked = options_.blocked,
                            .decisive = options_.decisive});
    choose_columns();
    if (in_columns()) add_heading();
    for (const Row& row : rows()) add(row);
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::size_t index_of(std::size_t step) const {
    FERMATA_ASSERT(step >= run_log_.forgotten());
    return step - run_log_.forgotten();
  }

  void choose_columns() {
    for (std::size_t i = 0; i < choice_.steps.size(); ++i) {
      const std::size_t lane = run_log_.steps()[i].lane;
      FERMATA_ASSERT(lane < run_log_.lanes().size());
      if (!choice_.steps[i] || column_of(lane) < columns_.size()) continue;
      columns_.push_back(lane);
      column_width_ = std::max(column_width_, lane_text(run_log_, lane).size() + 1);
    }
  }

  [[nodiscard]] std::size_t column_of(std::size_t lane) const {
    return static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), lane) -
                                    columns_.begin());
  }

  [[nodiscard]] bool in_columns() const {
    if (columns_.size() <= 1) return true;
    return columns_.size() <= kMostColumns && columns_.size() * column_width_ <= kMostWidth;
  }

  void add_heading() {
    FERMATA_ASSERT(in_columns());
    text_ += fmt::format("{:<{}}", "time", kTimeWidth);
    for (const std::size_t lane : columns_) {
      text_ += fmt::format("{:<{}}", lane_text(run_log_, lane), column_width_);
    }
    end_line();
  }

  /// All steps within the range, and what else is shown.
  [[nodiscard]] std::vector<Row> rows() const {
    std::vector<Row> rows;
    for (std::size_t step = options_.from; step < options_.to; ++step) {
      const std::size_t i = index_of(step);
      rows.push_back({run_log_.steps()[i].at, step, Row::Kind::Step, i});
    }
    for (std::size_t i = 0; i < choice_.turns.size(); ++i) {
      if (choice_.turns[i]) rows.push_back(row_of(run_log_.turns()[i], i));
    }
    for (std::size_t i = 0; i < choice_.disturbances.size(); ++i) {
      const RunLog::Disturbance& it = run_log_.disturbances()[i];
      if (!choice_.disturbances[i] || (i > 0 && says_it_too(i - 1, i))) continue;
      rows.push_back({it.at, it.step, Row::Kind::Disturbance, i});
    }
    for (std::size_t i = 0; i < run_log_.lines().size(); ++i) {
      const RunLog::Line& line = run_log_.lines()[i];
      const bool is_within = line.step >= options_.from && line.step <= options_.to;
      if (!line.lane && is_within) rows.push_back({line.at, line.step, Row::Kind::Line, i});
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  /// Whether the line of disturbance `a` also tells of `b`: that it came again at once, or the
  /// other way.
  [[nodiscard]] bool says_it_too(std::size_t a, std::size_t b) const {
    FERMATA_ASSERT(a < b);
    return choice_.disturbances[a] &&
           run_log_.disturbances()[a].at == run_log_.disturbances()[b].at &&
           disturbance_text(a) == disturbance_text(b);
  }

  /// A link that the same happens to both ways is named once: "one <-> two: cut".
  [[nodiscard]] std::string disturbance_text(std::size_t index) const {
    const auto& all = run_log_.disturbances();
    FERMATA_ASSERT(index < all.size());
    const RunLog::Disturbance& it = all[index];
    const auto is_reverse = [&](std::size_t at) {
      return at < all.size() && choice_.disturbances[at] && all[at].at == it.at &&
             all[at].kind == it.kind && all[at].machine == it.other && all[at].other == it.machine;
    };
    if (it.other.empty() || !(is_reverse(index + 1) || (index > 0 && is_reverse(index - 1)))) {
      return it.text;
    }
    const auto& [one, two] = std::minmax(it.machine, it.other);
    return fmt::format("{} <-> {}{}", one, two, it.text.substr(it.text.find(':')));
  }

  /// A pick belongs to the step that begins with it.
  [[nodiscard]] Row row_of(const RunLog::Turn& turn, std::size_t index) const {
    FERMATA_ASSERT(index < run_log_.turns().size());
    Instant at = turn.decision.at;
    const bool has_step = turn.decision.is_pick && turn.step < options_.to;
    if (has_step) at = run_log_.steps()[index_of(turn.step)].at;
    return {at, turn.step, Row::Kind::Turn, index};
  }

  void add(const Row& row) {
    switch (row.kind) {
      case Row::Kind::Turn:
        return add_line(
            row.at, fmt::format("> {}{}", describe(run_log_.turns()[row.index].decision, names_),
                                row.index == options_.decisive ? "   <== this decides" : ""));
      case Row::Kind::Disturbance:
        return add_line(row.at, "* " + disturbance_text(row.index));
      case Row::Kind::Line: {
        const RunLog::Line& line = run_log_.lines()[row.index];
        const std::string where = line.machine.empty() ? "" : fmt::format("'{}' ", line.machine);
        return add_line(row.at, where + "| " + line.text);
      }
      case Row::Kind::Step:
        if (choice_.steps[row.index]) return add_step(row.index);
        ++skipped_;
        return;
    }
  }

  void add_step(std::size_t index) {
    const RunLog::Step& step = run_log_.steps()[index];
    FERMATA_ASSERT(!in_columns() || column_of(step.lane) < columns_.size());
    if (choice_.cycle && index == choice_.cycle->begin) say_that_it_repeats(*choice_.cycle);
    const std::string before = in_columns() ? std::string(column_of(step.lane) * column_width_, ' ')
                                            : lane_text(run_log_, step.lane) + " ";
    std::vector<std::string> clauses =
        choice_.terse[index] ? step_text_.telling_clauses(index) : step_text_.clauses(index);
    if (!options_.failure.empty() && index + 1 == index_of(options_.to)) {
      if (step.ending == RunLog::Ending::Runs) clauses.back() = "fails: " + options_.failure;
      clauses.back() += "   <== the run fails";
    }
    if (step.clock != step.at) {
      clauses.back() += fmt::format("   (its clock shows {})", describe(step.clock));
    }
    for (const std::string& clause : clauses) add_line(step.at, before + clause);
  }

  void add_line(Instant at, const std::string& line) {
    FERMATA_ASSERT(!line.empty());
    say_skipped();
    text_ += fmt::format("{:<{}}", time_of(at), kTimeWidth) + line;
    end_line();
  }

  void say_that_it_repeats(const StepCycle& cycle) {
    FERMATA_ASSERT(cycle.count > 1);
    skipped_ = 0;
    text_ += fmt::format("  ... the next {} repeat {} times; the last time:\n",
                         counted(cycle.length, "step"), cycle.count);
  }

  void say_skipped() {
    if (skipped_ == 0) return;
    text_ += fmt::format("  ... {}\n", counted(skipped_, "step"));
    skipped_ = 0;
  }

  /// Empty when it is that of the line before.
  std::string time_of(Instant at) {
    FERMATA_ASSERT(at.nanoseconds >= last_time_);
    if (at.nanoseconds == last_time_) return {};
    last_time_ = at.nanoseconds;
    return describe(at) + " ";
  }

  void end_line() {
    text_.erase(text_.find_last_not_of(' ') + 1);
    text_ += '\n';
  }

  const RunLog& run_log_;
  const KeyNames& names_;
  TableOptions options_;
  StepText step_text_;
  StepChoice choice_;
  std::vector<std::size_t> columns_;  // Lanes, in the order of their first step.
  std::size_t column_width_ = kLeastColumnWidth;
  std::size_t skipped_ = 0;
  std::int64_t last_time_ = -1;
  std::string text_;
};

}  // namespace

std::string step_table(const RunLog& run_log, const KeyNames& names, const TableOptions& options) {
  return Table(run_log, names, options).text();
}

}  // namespace fermata::sim
