// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/step_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/counted.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kTimeWidth = 17;
constexpr std::size_t kColumnWidth = 27;
constexpr std::size_t kMostColumns = 4;

/// The part of an event's description that tells it from others.
std::string in_short(std::string_view event) {
  for (const std::string_view end : {" spawned at", " created at", ", "}) {
    event = event.substr(0, event.find(end));
  }
  const bool is_open = event.find('(') != std::string_view::npos && event.back() != ')';
  return std::string(event) + (is_open ? ")" : "");
}

class Table {
 public:
  Table(const RunLog& run_log, const KeyNames& names, const TableOptions& options)
      : run_log_(run_log), names_(names), options_(options) {}

  std::string text() {
    choose_steps();
    FERMATA_ASSERT(shown_.size() == run_log_.steps().size());
    choose_columns();
    if (in_columns()) add_heading();
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      if (!shown_[i]) {
        if (i >= index_of(options_.from)) ++skipped_;
        continue;
      }
      add_turns_before(i);
      add_step(run_log_.steps()[i]);
    }
    add_turns_before(shown_.size());
    FERMATA_ASSERT(next_turn_ == run_log_.turns().size());
    return std::move(text_);
  }

 private:
  /// A turn's step is counted from the beginning of the run.
  [[nodiscard]] std::size_t index_of(std::size_t step) const {
    return step - std::min(step, run_log_.forgotten());
  }

  void choose_steps() {
    const std::size_t count = run_log_.steps().size();
    shown_.assign(count, false);
    show(count - std::min(count, options_.last), count);
    for (const RunLog::Turn& turn : run_log_.turns()) {
      const std::size_t at = index_of(turn.step);
      show(at - std::min(at, options_.around), std::min(count, at + options_.around));
    }
    const std::size_t from = std::min(count, index_of(options_.from));
    show(from, std::min(count, from + options_.first));
    std::fill_n(shown_.begin(), from, false);
    auto left = static_cast<std::size_t>(std::count(shown_.begin(), shown_.end(), true));
    for (std::size_t i = 0; left > options_.most; ++i) {
      FERMATA_ASSERT(i < count);
      if (!shown_[i]) continue;
      shown_[i] = false;
      --left;
    }
  }

  void show(std::size_t begin, std::size_t end) {
    FERMATA_ASSERT(begin <= end);
    FERMATA_ASSERT(end <= shown_.size());
    for (std::size_t i = begin; i < end; ++i) shown_[i] = true;
  }

  void choose_columns() {
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      const std::size_t lane = run_log_.steps()[i].lane;
      FERMATA_ASSERT(lane < run_log_.lanes().size());
      if (shown_[i] && column_of(lane) == columns_.size()) columns_.push_back(lane);
    }
  }

  [[nodiscard]] std::size_t column_of(std::size_t lane) const {
    return static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), lane) -
                                    columns_.begin());
  }

  [[nodiscard]] bool in_columns() const { return columns_.size() <= kMostColumns; }

  void add_heading() {
    text_ += fmt::format("{:<{}}", "time", kTimeWidth);
    for (const std::size_t lane : columns_) {
      text_ += fmt::format("{:<{}}", lane_text(run_log_, lane), kColumnWidth);
    }
    end_line();
  }

  void add_turns_before(std::size_t step) {
    for (; next_turn_ < run_log_.turns().size(); ++next_turn_) {
      const RunLog::Turn& turn = run_log_.turns()[next_turn_];
      if (index_of(turn.step) > step) return;
      if (turn.step < options_.from) continue;
      say_skipped();
      text_ += fmt::format("> {}{}", describe(turn.decision, names_),
                           next_turn_ == options_.decisive ? "   <== this decides" : "");
      end_line();
    }
  }

  void add_step(const RunLog::Step& step) {
    FERMATA_ASSERT(!in_columns() || column_of(step.lane) < columns_.size());
    say_skipped();
    for (const std::string& cell : cells(step)) {
      text_ += fmt::format("{:<{}}", time_of(step), kTimeWidth);
      text_ += in_columns() ? std::string(column_of(step.lane) * kColumnWidth, ' ')
                            : lane_text(run_log_, step.lane) + " ";
      text_ += cell;
      end_line();
    }
  }

  void say_skipped() {
    if (skipped_ == 0) return;
    text_ += fmt::format("  ... {}\n", counted(skipped_, "step"));
    skipped_ = 0;
  }

  /// Empty when it is that of the line before.
  std::string time_of(const RunLog::Step& step) {
    if (step.at.nanoseconds == last_time_) return {};
    last_time_ = step.at.nanoseconds;
    return describe(step.at);
  }

  [[nodiscard]] std::vector<std::string> cells(const RunLog::Step& step) const {
    std::vector<std::string> cells;
    for (const RunLog::Wake& wake : step.woken) {
      if (wake.cause == WakeCause::Yield) continue;
      cells.push_back(
          fmt::format("{} {}", what_it_does(wake.cause), lane_text(run_log_, wake.lane)));
    }
    cells.push_back(ending(step));
    return cells;
  }

  [[nodiscard]] static const char* what_it_does(WakeCause cause) noexcept {
    FERMATA_ASSERT(cause != WakeCause::Yield);
    if (cause == WakeCause::Spawn) return "spawns";
    return cause == WakeCause::Cancel || cause == WakeCause::Shutdown ? "cancels" : "wakes";
  }

  [[nodiscard]] static std::string ending(const RunLog::Step& step) {
    switch (step.ending) {
      case RunLog::Ending::Runs:
        return "is running when the run ends";
      case RunLog::Ending::Yields:
        return fmt::format("yields {}", short_place(step.place));
      case RunLog::Ending::Waits:
        return fmt::format("waits {} for {}", short_place(step.place), in_short(step.reason));
      case RunLog::Ending::Ends:
        return "ends";
      case RunLog::Ending::Fails:
        return fmt::format("fails: {}", step.reason.substr(0, step.reason.find('\n')));
      case RunLog::Ending::Cancelled:
        return "ends, cancelled";
      case RunLog::Ending::Unwound:
        return "is unwound";
    }
    return {};
  }

  void end_line() {
    text_.erase(text_.find_last_not_of(' ') + 1);
    text_ += '\n';
  }

  const RunLog& run_log_;
  const KeyNames& names_;
  TableOptions options_;
  std::vector<bool> shown_;           // Of the run log's steps.
  std::vector<std::size_t> columns_;  // Lanes, in the order of their first step.
  std::size_t next_turn_ = 0;
  std::size_t skipped_ = 0;
  std::int64_t last_time_ = -1;
  std::string text_;
};

}  // namespace

std::string step_table(const RunLog& run_log, const KeyNames& names, const TableOptions& options) {
  return Table(run_log, names, options).text();
}

std::string lane_text(const RunLog& run_log, std::size_t lane) {
  const std::vector<RunLog::Lane>& lanes = run_log.lanes();
  FERMATA_ASSERT(lane < lanes.size());
  const bool one_machine = std::all_of(lanes.begin(), lanes.end(), [&](const auto& each) {
    return each.machine == lanes.front().machine;
  });
  const RunLog::Lane& it = lanes[lane];
  return one_machine || it.machine == it.name ? fmt::format("'{}'", it.name)
                                              : fmt::format("'{}/{}'", it.machine, it.name);
}

std::string short_place(const SourcePlace& place) {
  std::string_view file = place.file;
  file.remove_prefix(file.rfind('/') + 1);
  return fmt::format("{}:{}", file, place.line);
}

}  // namespace fermata::sim
