// SPDX-License-Identifier: Apache-2.0

// A wait-for graph for people.

#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/waits/wait_report.hpp"

namespace fermata::sim::detail {

namespace {

std::string name_of(const WaitGraph::Coroutine& coroutine) { return "'" + coroutine.name + "'"; }

/// "mutex 'm' (held by 'b', taken at x.cpp:9)".
std::string edge(const WaitGraph& graph, const RingStep& step) {
  FERMATA_ASSERT(step.hold.by < graph.coroutines.size());
  const WaitGraph::Object& object = graph.objects[step.objects.back()];
  if (object.kind == "join") return "join";
  std::string what;
  if (step.hold.how.find("held") != std::string::npos) {
    what = fmt::format("{} {}", step.hold.how, name_of(graph.coroutines[step.hold.by]));
    if (!step.hold.since.empty()) what += ", taken at " + step.hold.since;
  } else {
    what = object.state;
    if (step.hold.certainty != WaitGraph::Certainty::Known) {
      what += what.empty() ? "" : ", ";
      what += fmt::format("{} {}", step.hold.how, name_of(graph.coroutines[step.hold.by]));
    }
  }
  return object.title() + (what.empty() ? "" : " (" + what + ")");
}

std::string path(const WaitGraph& graph, const RingStep& step) {
  FERMATA_ASSERT(!step.objects.empty());
  std::string text;
  for (std::size_t i = 0; i + 1 < step.objects.size(); ++i) {
    text += graph.objects[step.objects[i]].title() + ": ";
  }
  return text + edge(graph, step);
}

/// The coroutines that hold the object, without what its own text says.
std::string hands(const WaitGraph& graph, std::size_t index) {
  FERMATA_ASSERT(index < graph.objects.size());
  const WaitGraph::Object& object = graph.objects[index];
  std::string text;
  const auto add = [&](const std::string& item) { text += (text.empty() ? "" : ", ") + item; };
  if (object.kind == "join") return text;
  for (const WaitGraph::Hold& hold : object.holds) {
    if (hold.certainty == WaitGraph::Certainty::Known && !hold.since.empty()) continue;
    const WaitGraph::Coroutine& holder = graph.coroutines[hold.by];
    std::string item = fmt::format("{} {}", hold.how, name_of(holder));
    if (!hold.since.empty()) item += " since " + hold.since;
    add(item);
  }
  for (const std::size_t part : object.parts) {
    const WaitGraph::Object& each = graph.objects[part];
    const bool joins = each.kind == "join" && each.holds.size() == 1;
    const bool zombie = joins && graph.coroutines[each.holds.front().by].zombie;
    add((joins ? name_of(graph.coroutines[each.holds.front().by]) : each.title()) +
        (zombie ? ", a zombie" : ""));
  }
  return text;
}

std::string waiters(const WaitGraph& graph, const Finding& finding) {
  FERMATA_ASSERT(!finding.waiters.empty());
  std::string text;
  for (const std::size_t each : finding.waiters) {
    text += (text.empty() ? "" : ", ") + name_of(graph.coroutines[each]);
  }
  return text;
}

void describe(const WaitGraph& graph, const WaitGraph::Coroutine& coroutine, std::string& text) {
  FERMATA_ASSERT(coroutine.state == WaitGraph::State::Waiting);
  text += fmt::format("{} (coroutine {}) {}{}, suspended at {}\n", name_of(coroutine), coroutine.id,
                      coroutine.main ? "that the node began with" : "spawned at ",
                      coroutine.main ? "" : coroutine.spawned, coroutine.suspended);
  for (const WaitGraph::Wait& wait : coroutine.waits) {
    const WaitGraph::Object& object = graph.objects[wait.object];
    const char* what = wait.only_ends ? "  until at the latest " : "  waits for ";
    text += what + object.info;
    if (!wait.wants.empty()) text += ", to " + wait.wants;
    text += "\n";
    const std::string who = hands(graph, wait.object);
    if (!who.empty()) {
      text += fmt::format("    {}{}\n", object.parts.empty() ? "" : "up to ", who);
    } else if (!object.outside.empty()) {
      text += fmt::format("    up to {}\n", object.outside);
    }
  }
}

}  // namespace

std::string ring_text(const WaitGraph& graph, const Finding& finding) {
  FERMATA_ASSERT(!finding.ring.empty());
  std::string text;
  for (const RingStep& step : finding.ring) {
    text +=
        fmt::format("{} --{}--> ", name_of(graph.coroutines[step.coroutine]), path(graph, step));
  }
  return text + name_of(graph.coroutines[finding.ring.front().coroutine]);
}

std::string finding_text(const WaitGraph& graph, const Finding& finding) {
  FERMATA_ASSERT(finding.kind != WaitClass::None);
  const bool is_ring = finding.kind == WaitClass::Cycle;
  return fmt::format("{}: {}", to_string(finding.kind),
                     is_ring ? ring_text(graph, finding) : finding.text);
}

std::string wait_text(const WaitGraph& graph, const Diagnosis& diagnosis) {
  std::string text;
  for (const Finding& finding : diagnosis.findings) {
    text += finding_text(graph, finding);
    if (finding.kind != WaitClass::Cycle) {
      text += fmt::format("; {} cannot go on", waiters(graph, finding));
    }
    text += '\n';
  }
  std::size_t told = WaitGraph::kNone;
  for (const WaitGraph::Coroutine& each : graph.coroutines) {
    if (each.state != WaitGraph::State::Waiting) continue;
    FERMATA_ASSERT(each.node < graph.nodes.size());
    const WaitGraph::Node& node = graph.nodes[each.node];
    if (std::exchange(told, each.node) != each.node && (graph.nodes.size() > 1 || node.paused)) {
      text += fmt::format("on '{}'{}:\n", node.name, node.paused ? ", paused" : "");
    }
    describe(graph, each, text);
  }
  return text;
}

}  // namespace fermata::sim::detail
