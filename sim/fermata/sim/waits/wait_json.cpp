// SPDX-License-Identifier: Apache-2.0

// A wait-for graph for programs. The order of members and elements is fixed.

#include <nlohmann/json.hpp>

#include "fermata/base/assert.hpp"
#include "fermata/sim/waits/wait_report.hpp"

namespace fermata::sim::detail {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const WaitGraph::Deed& deed) {
  FERMATA_ASSERT(!deed.did.empty());
  Json json = {{"who", deed.who}, {"did", deed.did}};
  if (!deed.place.empty()) json["at"] = deed.place;
  if (!deed.woke.empty()) json["woke"] = deed.woke;
  if (deed.step != 0) {
    json["step"] = deed.step;
    json["time_ns"] = deed.at.nanoseconds;
  }
  return json;
}

const char* to_string(WaitGraph::Certainty certainty) {
  switch (certainty) {
    case WaitGraph::Certainty::Known:
      return "known";
    case WaitGraph::Certainty::Likely:
      return "likely";
    case WaitGraph::Certainty::Possible:
      return "possible";
  }
  return "known";
}

Json json_of(const WaitGraph& graph, const RingStep& step) {
  FERMATA_ASSERT(step.hold.by < graph.coroutines.size());
  Json json = {{"coroutine", graph.coroutines[step.coroutine].name}};
  for (const std::size_t object : step.objects) {
    json["waits_for"].push_back(graph.objects[object].title());
  }
  json["how"] = step.hold.how;
  json["by"] = graph.coroutines[step.hold.by].name;
  if (!step.hold.since.empty()) json["since"] = step.hold.since;
  json["certainty"] = to_string(step.hold.certainty);
  return json;
}

Json json_of(const WaitGraph& graph, const Finding& finding) {
  FERMATA_ASSERT(finding.kind != WaitClass::None);
  Json json = {{"class", to_string(finding.kind)}};
  for (const RingStep& step : finding.ring) json["cycle"].push_back(json_of(graph, step));
  if (finding.object != WaitGraph::kNone) {
    json["object"] = graph.objects[finding.object].title();
  }
  for (const std::size_t waiter : finding.waiters) {
    json["waiters"].push_back(graph.coroutines[waiter].name);
  }
  if (finding.culprit) json["culprit"] = json_of(*finding.culprit);
  if (!finding.text.empty()) json["text"] = finding.text;
  return json;
}

Json json_of(const WaitGraph& graph, const WaitGraph::Coroutine& coroutine) {
  FERMATA_ASSERT(coroutine.node < graph.nodes.size());
  Json json = {{"name", coroutine.name},
               {"id", coroutine.id},
               {"node", graph.nodes[coroutine.node].name},
               {"state", to_string(coroutine.state)},
               {"spawned", coroutine.spawned}};
  if (!coroutine.suspended.empty()) json["suspended"] = coroutine.suspended;
  json["info"] = coroutine.info;
  if (coroutine.main) json["main"] = true;
  if (coroutine.zombie) json["zombie"] = true;
  if (coroutine.sleeps) json["sleeps"] = true;
  json["waits"] = Json::array();
  for (const WaitGraph::Wait& wait : coroutine.waits) {
    Json each = {{"object", wait.object}};
    if (!wait.wants.empty()) each["wants"] = wait.wants;
    if (wait.only_ends) each["only_ends"] = true;
    json["waits"].push_back(std::move(each));
  }
  return json;
}

Json json_of(const WaitGraph& graph, const WaitGraph::Object& object) {
  Json json = {{"title", object.title()}, {"kind", object.kind}};
  if (!object.name.empty()) json["name"] = object.name;
  if (!object.made.empty()) json["made"] = object.made;
  if (!object.state.empty()) json["state"] = object.state;
  json["info"] = object.info;
  json["hands"] = Json::array();
  for (const WaitGraph::Hold& hold : object.holds) {
    Json each = {{"coroutine", graph.coroutines[hold.by].name},
                 {"how", hold.how},
                 {"certainty", to_string(hold.certainty)}};
    if (!hold.since.empty()) each["since"] = hold.since;
    json["hands"].push_back(std::move(each));
  }
  for (const WaitGraph::Former& former : object.former) {
    Json each = {{"coroutine", former.who}, {"how", former.how}};
    if (!former.since.empty()) each["since"] = former.since;
    if (former.end) each["end"] = json_of(*former.end);
    json["ended_hands"].push_back(std::move(each));
  }
  if (!object.outside.empty()) json["outside"] = object.outside;
  for (const std::size_t part : object.parts) json["parts"].push_back(part);
  if (object.any_part) json["any_part"] = true;
  if (object.woken) json["last_woken"] = json_of(*object.woken);
  if (object.ended) json["last_ended"] = json_of(*object.ended);
  return json;
}

}  // namespace

std::string wait_json(const WaitGraph& graph, const Diagnosis& diagnosis) {
  Json json = {{"class", to_string(diagnosis.kind())}};
  json["findings"] = Json::array();
  for (const Finding& finding : diagnosis.findings) {
    json["findings"].push_back(json_of(graph, finding));
  }
  json["coroutines"] = Json::array();
  for (const auto& each : graph.coroutines) json["coroutines"].push_back(json_of(graph, each));
  json["objects"] = Json::array();
  for (const auto& each : graph.objects) json["objects"].push_back(json_of(graph, each));
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace fermata::sim::detail
