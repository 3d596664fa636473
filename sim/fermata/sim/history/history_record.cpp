// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/history/history_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/json.hpp"
#include "fermata/sim/history/counterexample.hpp"
#include "fermata/sim/tape/decision.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sim/world/world_access.hpp"

namespace fermata::sim::detail {
namespace {

constexpr std::size_t kNarrowestColumn = 8;

void add_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + '\n';
}

Json json_of(const HistoryMoment& moment) {
  return {{"ns", moment.at.nanoseconds}, {"step", moment.step}, {"position", moment.position}};
}

}  // namespace

HistoryRecord::HistoryRecord(World* world, std::string name)
    : world_(world), name_(std::move(name)) {}

HistoryMoment HistoryRecord::present() {
  unjudged_ = true;
  if (world_ == nullptr) return HistoryMoment{{}, 0, positions_++};
  return HistoryMoment{world_->now(), detail::WorldAccess(*world_).present_step(), positions_++};
}

std::size_t HistoryRecord::note_invocation(std::string_view client) {
  const auto found = std::find(clients_.begin(), clients_.end(), client);
  const auto number = static_cast<std::size_t>(found - clients_.begin());
  if (found == clients_.end()) clients_.emplace_back(client);
  FERMATA_ASSERT(number < clients_.size());
  operations_.push_back(Operation{
      .client = number, .invoked = present(), .responded = std::nullopt, .happened = true});
  return operations_.size() - 1;
}

bool HistoryRecord::is_open(std::size_t operation) const noexcept {
  FERMATA_ASSERT(operation < operations_.size());
  return operations_[operation].happened && !operations_[operation].responded;
}

void HistoryRecord::note_response(std::size_t operation) {
  if (!is_open(operation)) {
    throw UsageError(fmt::format("history '{}': {} of '{}' has ended already", name_,
                                 operation_text(operation),
                                 clients_[operations_[operation].client]));
  }
  operations_[operation].responded = present();
  FERMATA_ASSERT(!is_open(operation));
}

void HistoryRecord::forget(std::size_t operation) {
  note_response(operation);
  operations_[operation].happened = false;
}

bool HistoryRecord::run_goes_on() const noexcept { return world_ != nullptr && !world_->failure(); }

// --- judging ---

std::vector<std::vector<OperationSpan>> HistoryRecord::spans_of(
    const std::vector<std::uint32_t>& partitions) const {
  FERMATA_ASSERT(partitions.size() == operations_.size());
  std::vector<std::vector<OperationSpan>> spans;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const Operation& operation = operations_[i];
    if (!operation.happened) continue;
    if (partitions[i] >= spans.size()) spans.resize(partitions[i] + std::size_t{1});
    OperationSpan span;
    span.operation = static_cast<std::uint32_t>(i);
    span.invoked = operation.invoked.position;
    if (operation.responded) {
      span.responded = operation.responded->position;
      span.only_reads = only_reads(i);
      FERMATA_ASSERT(span.invoked < span.responded);
    }
    spans[partitions[i]].push_back(span);
  }
  return spans;
}

HistoryVerdict HistoryRecord::judge(const std::vector<std::uint32_t>& partitions,
                                    Semantics& semantics,
                                    const LinearizabilityLimits& limits) const {
  HistoryVerdict verdict;
  for (const std::vector<OperationSpan>& spans : spans_of(partitions)) {
    const LinearizationSearch search = find_linearization(spans, semantics, limits.configurations);
    verdict.configurations += search.configurations;
    if (search.answer == Linearizability::Undecided) verdict.answer = Linearizability::Undecided;
    if (search.answer != Linearizability::No) continue;
    const Counterexample found = find_counterexample(spans, search, semantics, limits.shrinking);
    FERMATA_ASSERT(!found.spans.empty());
    FERMATA_ASSERT(found.unexplained < operations_.size());
    verdict.answer = Linearizability::No;
    verdict.unexplained = found.unexplained;
    for (const OperationSpan& span : found.spans) {
      verdict.counterexample.push_back(span.operation);
    }
    verdict.longest_order.assign(found.longest_order.begin(), found.longest_order.end());
    break;
  }
  return verdict;
}

void HistoryRecord::report(const HistoryVerdict& verdict,
                           const LinearizabilityLimits& limits) const {
  if (world_ == nullptr) {
    throw UsageError(fmt::format("history '{}' is of no run; expected check() instead", name_));
  }
  unjudged_ = false;
  keep(&verdict);
  if (verdict.answer == Linearizability::Yes) return;
  Failure failure;
  failure.verdict = Verdict::Safety;
  failure.coroutine = detail::WorldAccess(*world_).current_coroutine();
  failure.at = world_->now();
  failure.step = detail::WorldAccess(*world_).present_step();
  if (verdict.answer == Linearizability::No) {
    FERMATA_ASSERT(verdict.unexplained.has_value());
    failure.message = fmt::format("history '{}' is not linearizable", name_);
    failure.explanation = text(verdict);
  } else {
    failure.message = fmt::format(
        "history '{}' is undecided: its {} operations need more than {} configurations; expected "
        "fewer at the same time, a model with partitions, or a higher limit",
        name_, operations_.size(), limits.configurations);
  }
  world_->fail(std::move(failure));
}

void HistoryRecord::leave_unjudged() const { keep(nullptr); }

void HistoryRecord::keep(const HistoryVerdict* verdict) const {
  if (world_ == nullptr) return;
  detail::WorldAccess world(*world_);
  if (world.instruments().run_log == nullptr) return;
  kept_ = world.keep_history(kept_, json_text(verdict));
}

// --- showing ---

std::string HistoryRecord::sentence(std::size_t operation) const {
  FERMATA_ASSERT(operation < operations_.size());
  const Operation& each = operations_[operation];
  const std::string end = each.responded ? result_text(operation) : std::string("no response");
  return fmt::format("{} by '{}': {}", operation_text(operation), clients_[each.client], end);
}

std::string HistoryRecord::table(const HistoryVerdict& verdict) const {
  struct Cell {
    HistoryMoment when;
    std::size_t client;
    std::string text;
  };
  FERMATA_ASSERT(operations_[*verdict.unexplained].responded.has_value());
  const std::uint32_t end = operations_[*verdict.unexplained].responded->position;
  std::vector<Cell> cells;
  for (const std::size_t i : verdict.counterexample) {
    const Operation& each = operations_[i];
    const bool answered = each.responded && each.responded->position <= end;
    cells.push_back(
        Cell{each.invoked, each.client, operation_text(i) + (answered ? "" : ", no response yet")});
    if (!answered) continue;
    const char* mark = i == *verdict.unexplained ? " <--" : "";
    cells.push_back(
        Cell{*each.responded, each.client, fmt::format("  {}{}", result_text(i), mark)});
  }
  std::sort(cells.begin(), cells.end(),
            [](const Cell& a, const Cell& b) { return a.when.position < b.when.position; });

  std::map<std::size_t, std::size_t> widths;  // Of the columns of those clients that appear.
  for (const Cell& cell : cells) {
    std::size_t& width = widths[cell.client];
    width = std::max({width, kNarrowestColumn, clients_[cell.client].size(), cell.text.size()});
  }
  std::string heading = fmt::format("{:>14}{:>8}", "time", "step");
  for (const auto& [client, width] : widths) {
    heading += fmt::format("  {:<{}}", clients_[client], width);
  }
  std::string text;
  add_line(text, std::move(heading));
  for (const Cell& cell : cells) {
    std::string line = fmt::format("{:>14}{:>8}", describe(cell.when.at), cell.when.step);
    for (const auto& [client, width] : widths) {
      line += fmt::format("  {:<{}}", client == cell.client ? cell.text : std::string(), width);
    }
    add_line(text, std::move(line));
  }
  return text;
}

std::string HistoryRecord::text(const HistoryVerdict& verdict) const {
  if (!verdict.unexplained) return {};
  std::string text = fmt::format("{} of {} operations that no order explains:\n",
                                 verdict.counterexample.size(), operations_.size());
  text += table(verdict);
  if (verdict.longest_order.empty()) {
    text += "nothing explains\n";
  } else {
    text += "at best this is an order of them:\n";
    for (const std::size_t i : verdict.longest_order) text += fmt::format("  {}\n", sentence(i));
    text += "which does not lead to\n";
  }
  return text + fmt::format("  {}\n", sentence(*verdict.unexplained));
}

std::string HistoryRecord::json(const HistoryVerdict& verdict) const { return json_text(&verdict); }

std::string HistoryRecord::json_text(const HistoryVerdict* verdict) const {
  Json json = {{"history", name_}};
  json["answer"] = verdict == nullptr ? "not judged" : to_string(verdict->answer);
  if (verdict != nullptr) {
    json["configurations"] = verdict->configurations;
    json["counterexample"] = verdict->counterexample;
    json["unexplained"] = verdict->unexplained ? Json(*verdict->unexplained) : Json();
    json["longest_order"] = verdict->longest_order;
  }
  Json& operations = json["operations"] = Json::array();
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const Operation& each = operations_[i];
    const bool answered = each.responded && each.happened;
    operations.push_back({{"client", clients_[each.client]},
                          {"operation", operation_text(i)},
                          {"result", answered ? Json(result_text(i)) : Json()},
                          {"happened", each.happened},
                          {"invoked", json_of(each.invoked)},
                          {"responded", each.responded ? json_of(*each.responded) : Json()}});
  }
  return sim::json_text(json);
}

}  // namespace fermata::sim::detail
