// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/cli/escaped.hpp"

namespace fermata::sim::cli {
namespace {

constexpr const char* kStyle =
    ":root{color-scheme:light dark}"
    "body{font:14px/1.5 ui-sans-serif,system-ui,sans-serif;max-width:72em;margin:2em auto;"
    "padding:0 1em}"
    "h1{font-size:20px}h2{font-size:15px;margin:1.6em 0 .4em}"
    "table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;padding:3px 14px 3px 0;vertical-align:top;overflow-wrap:anywhere}"
    "th{font-weight:600;color:#68738a}"
    "progress{width:100%;height:14px}"
    "pre{white-space:pre-wrap;background:#8881;border-radius:6px;padding:8px 12px;"
    "overflow-wrap:anywhere}"
    ".bad{color:#c2252b;font-weight:600}.good{color:#0f7b5f;font-weight:600}"
    "svg{width:100%;height:160px;background:#8881;border-radius:6px}"
    "polyline{fill:none;stroke:#2f6fc4;stroke-width:2;vector-effect:non-scaling-stroke}";

std::string row(std::string_view name, std::string_view value) {
  return fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", escaped(name), escaped(value));
}

/// Runs in a second of all workers that are alive, by what they have done so far.
double runs_per_second(const FleetState& state) {
  const double busy = std::chrono::duration<double>(state.sums().busy).count();
  return busy > 0 ? static_cast<double>(state.runs()) / busy * static_cast<double>(state.alive())
                  : 0;
}

/// How many new behaviours another hour of these workers would bring at most, by Good and Turing.
std::string next_hour(const FleetState& state) {
  std::uint64_t once = 0;
  for (const TestOutcome& test : state.outcome.run.tests) once += test.totals.behaviours().once();
  const std::uint64_t runs = std::max<std::uint64_t>(state.runs(), 1);
  const double share = std::min(1.0, static_cast<double>(once) / static_cast<double>(runs));
  constexpr double kHour = 3600;
  return fmt::format("{:.2f} % of the next runs; {:.0f} in another hour at most", share * 100,
                     share * runs_per_second(state) * kHour);
}

std::string progress_of(const FleetState& state) {
  const FleetOutcome& outcome = state.outcome;
  FERMATA_ASSERT(outcome.done <= outcome.chunks);
  const fleet::WorkerStatus sums = state.sums();
  const char* const canary = !outcome.canary_done ? "not run yet"
                             : outcome.canary_found
                                 ? "found"
                                 : "MISSED: what these workers explore does not find bugs";
  return fmt::format("<progress max=\"{}\" value=\"{}\"></progress>\n<table>\n", outcome.chunks,
                     outcome.done) +
         row("chunks", fmt::format("{}, {} leased", outcome.progress(), state.leased)) +
         row("runs", fmt::format("{}, {:.0f} a second", state.runs(), runs_per_second(state))) +
         row("new behaviours", next_hour(state)) + row("canary", canary) +
         row("done again", fmt::format("{} stolen, {} done twice, {} with other bytes",
                                       counted(sums.stolen, "chunk"), sums.twice, sums.different)) +
         row("cost",
             fmt::format("{:.3f} core-hours",
                         std::chrono::duration<double, std::ratio<3600>>(sums.busy).count())) +
         "</table>\n";
}

/// The behaviours seen against the runs, in the order of the plan.
std::string curve_of(const FleetState& state) {
  const auto& growth = state.outcome.growth;
  if (growth.empty()) return {};
  FERMATA_ASSERT(growth.front().runs <= growth.back().runs);
  const double width = std::max<double>(1, static_cast<double>(growth.back().runs));
  const double height = std::max<double>(1, static_cast<double>(growth.back().kinds));
  std::string points = "0,100 ";
  const std::size_t step = growth.size() / 500 + 1;
  for (std::size_t i = 0; i < growth.size(); i += step) {
    points += fmt::format("{:.2f},{:.2f} ", 100 * static_cast<double>(growth[i].runs) / width,
                          100 - 96 * static_cast<double>(growth[i].kinds) / height);
  }
  return fmt::format(
      "<h2>Behaviours, over the runs of the plan</h2>\n<svg viewBox=\"0 0 100 100\" "
      "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{} behaviours after {} "
      "runs\"><polyline points=\"{}\"/></svg>\n<p>{} after {}</p>\n",
      growth.back().kinds, growth.back().runs, points, counted(growth.back().kinds, "behaviour"),
      counted(growth.back().runs, "run"));
}

std::string link(const std::string& path, std::string_view text) {
  return path.starts_with("findings/")
             ? fmt::format("<a href=\"{}\">{}</a> ", escaped(path), escaped(text))
             : std::string();
}

/// The page of a failure, which its report names.
std::string page_in(const FailureRecord& failure) {
  constexpr std::string_view kLine = "\nreport: ";
  const std::size_t at = failure.report.find(kLine);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kLine.size();
  return failure.report.substr(begin, failure.report.find('\n', begin) - begin);
}

std::string findings_of(const FleetState& state) {
  std::string text = "<h2>Findings</h2>\n";
  bool has_some = false;
  for (const TestOutcome& test : state.outcome.run.tests) {
    for (const FailureRecord& failure : test.totals.failures()) {
      has_some = true;
      text += fmt::format("<p><span class=\"bad\">{}</span> {}: {}<br>{}{}{}</p>\n<pre>{}</pre>\n",
                          escaped(failure.failure_class), escaped(failure.test),
                          escaped(failure.message), link(page_in(failure), "page"),
                          link(failure.tape, "tape"), link(failure.shrunk_tape, "shrunk tape"),
                          escaped(failure.reproduce));
    }
  }
  return has_some ? text : text + "<p class=\"good\">none so far</p>\n";
}

std::string workers_of(const FleetState& state) {
  std::string text = fmt::format(
      "<h2>Workers, {} alive of {}</h2>\n<table>\n<tr><th>name</th><th>state</th>"
      "<th>chunk</th><th>done</th><th>stolen</th><th>busy</th></tr>\n",
      state.alive(), state.workers.size());
  for (const fleet::WorkerStatus& worker : state.workers) {
    text += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{} s</td></tr>\n",
        escaped(worker.worker), escaped(worker.state), escaped(worker.chunk), worker.done,
        worker.stolen, std::chrono::duration_cast<std::chrono::seconds>(worker.busy).count());
  }
  return text + "</table>\n";
}

}  // namespace

std::string page_of(const FleetState& state) {
  const bool goes_on = !state.outcome.is_complete();
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n<title>Fermata: {}"
      "</title>\n<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n{}{}{}{}</body>\n</html>\n",
      goes_on ? "<meta http-equiv=\"refresh\" content=\"5\">\n" : "", state.outcome.progress(),
      kStyle, escaped(fmt::format("The plan {}{}", state.root, goes_on ? "" : ", complete")),
      progress_of(state), curve_of(state), findings_of(state), workers_of(state));
}

}  // namespace fermata::sim::cli
