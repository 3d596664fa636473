// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/run_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/printable.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/report/kept_steps.hpp"
#include "fermata/sim/report/step_text.hpp"

namespace fermata::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr std::size_t kPreview = 48;  // Bytes of a message.

void add(Json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text;
}

const char* to_string(RunLog::Ending ending) noexcept {
  switch (ending) {
    case RunLog::Ending::Runs:
      return "runs";
    case RunLog::Ending::Yields:
      return "yields";
    case RunLog::Ending::Waits:
      return "waits";
    case RunLog::Ending::Ends:
    case RunLog::Ending::Cancelled:  // `why` says so.
    case RunLog::Ending::Unwound:
      return "ends";
    case RunLog::Ending::Fails:
      return "fails";
  }
  return "runs";
}

const char* to_string(backend::WakeCause cause) noexcept {
  switch (cause) {
    case backend::WakeCause::Spawn:
      return "spawn";
    case backend::WakeCause::Yield:
      return "yield";
    case backend::WakeCause::Event:
      return "event";
    case backend::WakeCause::Error:
      return "error";
    case backend::WakeCause::Cancel:
      return "cancel";
    case backend::WakeCause::Deadlock:
      return "deadlock";
    case backend::WakeCause::Shutdown:
      return "shutdown";
  }
  return "event";
}

std::string long_place(const SourcePlace& place) {
  return fmt::format("{}:{}", place.file, place.line);
}

/// One run, in the terms of its own arrays.
class RunJson {
 public:
  RunJson(const RunReport::Run& run, bool for_page)
      : run_(run),
        run_log_(*run.run_log),
        machines_(machines_of(run_log_)),
        kept_(run_log_, for_page) {}

  Json json() {
    Json json = {{"title", run_.title},
                 {"hash", fmt::format("{:016x}", run_log_.trace_hash())},
                 {"end", run_log_.end().nanoseconds},
                 {"forgotten", run_log_.forgotten()}};
    add_turns(json);
    json["machines"] = machines_;
    json["lanes"] = list(run_log_.lanes());
    json["steps"] = steps();
    for (const KeptSteps::Gap& gap : kept_.gaps()) {
      json["left_out"].push_back({{"before", gap.before}, {"steps", gap.steps}});
    }
    json["lines"] = list(run_log_.lines());
    json["messages"] = messages();
    json["files"] = list(run_log_.disk_log().changes());
    json["faults"] = list(run_log_.disturbances());
    return json;
  }

 private:
  /// The turns that are worth a word; "decisive" counts only them.
  void add_turns(Json& json) const {
    Json shown = Json::array();
    for (std::size_t i = 0; i < run_log_.turns().size(); ++i) {
      const RunLog::Turn& turn = run_log_.turns()[i];
      if (goes_without_saying(turn.decision, run_.names)) continue;
      if (run_.decisive == i) json["decisive"] = shown.size();
      shown.push_back(json_of(turn));
    }
    json["turns"] = std::move(shown);
  }

  template <class Items>
  Json list(const Items& items) const {
    Json all = Json::array();
    for (const auto& each : items) all.push_back(json_of(each));
    return all;
  }

  [[nodiscard]] std::size_t machine(const std::string& name) const {
    const auto found = std::find(machines_.begin(), machines_.end(), name);
    FERMATA_ASSERT(found != machines_.end());
    return static_cast<std::size_t>(found - machines_.begin());
  }

  [[nodiscard]] Json steps() const {
    Json all = Json::array();
    for (const std::size_t index : kept_.steps()) all.push_back(json_of(run_log_.steps()[index]));
    return all;
  }

  /// Without those that were sent in steps that are left out.
  [[nodiscard]] Json messages() const {
    Json all = Json::array();
    for (const Message& message : run_log_.message_log().messages()) {
      const bool left_out =
          message.step && *message.step >= run_log_.forgotten() && !kept_.has(*message.step);
      if (!left_out) all.push_back(json_of(message));
    }
    return all;
  }

  [[nodiscard]] Json json_of(const RunLog::Lane& lane) const {
    Json json = {{"machine", machine(lane.machine)}, {"name", lane.name}};
    if (lane.spawned.line != 0) json["spawned"] = long_place(lane.spawned);
    if (lane.parent) json["parent"] = *lane.parent;
    return json;
  }

  [[nodiscard]] Json json_of(const RunLog::Step& step) const {
    FERMATA_ASSERT(step.lane < run_log_.lanes().size());
    Json json = {{"n", step.number},
                 {"lane", step.lane},
                 {"at", step.at.nanoseconds},
                 {"end", to_string(step.ending)}};
    add(json, "why", step.reason);
    const bool suspends =
        step.ending == RunLog::Ending::Waits || step.ending == RunLog::Ending::Yields;
    if (suspends) json["place"] = short_place(step.place);
    for (const std::string& call : step.calls) json["calls"].push_back(call);
    for (const RunLog::Wake& wake : step.woken) {
      json["wakes"].push_back(Json::array({wake.lane, to_string(wake.cause)}));
    }
    return json;
  }

  [[nodiscard]] Json json_of(const RunLog::Turn& turn) const {
    Json json = {{"step", kept_.index_of(turn.step)},
                 {"text", describe(turn.decision, run_.names)}};
    if (turn.chosen) json["chosen"] = turn.chosen->lane;
    if (turn.passed_over) json["passed"] = turn.passed_over->lane;
    if (turn.decision.is_pick) json["pick"] = true;
    return json;
  }

  [[nodiscard]] Json json_of(const RunLog::Line& line) const {
    Json json = {{"at", line.at.nanoseconds}, {"step", kept_.index_of(line.step)}};
    if (line.lane) json["lane"] = *line.lane;
    if (!line.machine.empty()) json["machine"] = machine(line.machine);
    json["text"] = line.text;
    return json;
  }

  [[nodiscard]] Json json_of(const Message& message) const {
    FERMATA_ASSERT(message.bytes.size() <= message.size);
    Json json = {{"kind", to_string(message.kind)},
                 {"from", machine(message.from)},
                 {"to", machine(message.to)},
                 {"sent", message.sent.nanoseconds}};
    if (message.arrival != Instant::never()) json["arrived"] = message.arrival.nanoseconds;
    json["fate"] = to_string(message.fate);
    json["bytes"] = message.size;
    if (message.step && kept_.has(*message.step)) json["step"] = kept_.index_of(*message.step);
    json["what"] = message_text(message);
    if (!message.bytes.empty()) {
      json["preview"] = printable(message.bytes, message.size, kPreview);
    }
    return json;
  }

  [[nodiscard]] Json json_of(const DiskLog::Change& change) const {
    const auto contents = [](const FileContents& it) -> Json {
      return {{"bytes", it.size}, {"preview", printable(it.bytes, it.size, kPreview)}};
    };
    Json json = {{"machine", machine(change.machine)},
                 {"path", change.file.path},
                 {"at", change.at.nanoseconds},
                 {"step", kept_.index_of(change.step)}};
    if (change.file.seen) json["seen"] = contents(*change.file.seen);
    if (change.file.durable) json["durable"] = contents(*change.file.durable);
    if (change.file.is_synced) json["synced"] = true;
    return json;
  }

  [[nodiscard]] Json json_of(const RunLog::Disturbance& fault) const {
    Json json = {{"at", fault.at.nanoseconds}, {"kind", fault.kind}};
    if (!fault.machine.empty()) json["machine"] = machine(fault.machine);
    if (!fault.other.empty()) json["other"] = machine(fault.other);
    if (fault.until) json["until"] = fault.until->nanoseconds;
    json["text"] = fault.text;
    return json;
  }

  const RunReport::Run& run_;
  const RunLog& run_log_;
  std::vector<std::string> machines_;
  KeptSteps kept_;
};

Json json_of(const Failure& failure) {
  return {{"class", to_string(failure.verdict)},
          {"message", failure.message},
          {"signature", failure.signature()},
          {"step", failure.step},
          {"at", failure.at.nanoseconds}};
}

Json json_of(const Party& party) {
  FERMATA_ASSERT(!party.place.empty());
  return {{"coroutine", party.coroutine},
          {"place", party.place},
          {"begun", party.begun},
          {"stack", party.stack}};
}

void add_explanation(Json& json, const Explanation& explanation) {
  add(json, "verdict", explanation.verdict);
  for (const std::optional<Party>& party : {explanation.first, explanation.second}) {
    if (party) json["pair"].push_back(json_of(*party));
  }
}

}  // namespace

std::string run_data(const RunReport& report, bool for_page) {
  FERMATA_REQUIRE(!report.runs.empty(), "a report shows a run");
  Json json = {{"format", kFormat}, {"fermata", FERMATA_VERSION}, {"test", report.test}};
  add(json, "program", report.program);
  json["seed"] = seed_text(report.seed);
  json["strategy"] = report.strategy;
  json["reproduce"] = report.reproduce;
  if (report.failure) json["failure"] = json_of(*report.failure);
  add(json, "shrink", report.shrink);
  if (report.explanation) add_explanation(json, *report.explanation);
  if (report.failure && !report.failure->wait_graph.empty()) {
    json["waits"] = Json::parse(report.failure->wait_graph);
  }
  json["runs"] = Json::array();
  for (const RunReport::Run& run : report.runs)
    json["runs"].push_back(RunJson(run, for_page).json());
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> machines_of(const RunLog& run_log) {
  std::vector<std::string> machines;
  const auto add_machine = [&](const std::string& name) {
    const bool known = std::find(machines.begin(), machines.end(), name) != machines.end();
    if (!known && !name.empty()) machines.push_back(name);
  };
  for (const RunLog::Lane& lane : run_log.lanes()) add_machine(lane.machine);
  for (const Message& message : run_log.message_log().messages()) {
    add_machine(message.from);
    add_machine(message.to);
  }
  for (const RunLog::Line& line : run_log.lines()) add_machine(line.machine);
  for (const DiskLog::Change& change : run_log.disk_log().changes()) add_machine(change.machine);
  for (const RunLog::Disturbance& fault : run_log.disturbances()) {
    add_machine(fault.machine);
    add_machine(fault.other);
  }
  return machines;
}

std::string message_text(const Message& message) {
  return fmt::format("{} {}:{} -> {}:{}", message.kind == Message::Kind::Datagram ? "udp" : "tcp",
                     message.from, message.source.port(), message.to, message.destination.port());
}

}  // namespace fermata::sim
