// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/waits/deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

namespace {

using Deed = WaitGraph::Deed;

/// From this many refusals, or steps of being passed over, starvation is not an accident.
constexpr std::uint64_t kRefusals = 3;
constexpr std::uint64_t kStepsOfPatience = 1'000;

std::string quoted(const std::string& name) { return "'" + name + "'"; }

std::string list_of(const std::vector<std::string>& names) {
  FERMATA_ASSERT(!names.empty());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + quoted(name);
  return text;
}

/// "'b', in step 12 at bank.cpp:9, which woke 'c'"
std::string by(const Deed& deed) {
  std::string text = deed.who == "nobody" ? "no coroutine" : quoted(deed.who);
  text += fmt::format(", in step {}", deed.step);
  if (!deed.place.empty()) text += ", at " + deed.place;
  const bool wakes = deed.did == "notified" || deed.did == "fired";
  if (wakes) text += ", which woke " + (deed.woke.empty() ? "nobody" : quoted(deed.woke));
  return text;
}

std::string how_it_ended(const WaitGraph::Former& former) {
  const bool was_cancelled = former.end && former.end->did == "was cancelled";
  if (was_cancelled) return former.end->did;
  return former.end ? "has " + former.end->did : "has ended";
}

class Diagnostician {
 public:
  Diagnostician(const WaitGraph& graph, bool endless) : graph_(graph), endless_(endless) {}

  Diagnosis diagnose() {
    for (std::vector<RingStep>& ring : find_rings(graph_)) add_cycle(std::move(ring));
    for (std::size_t i = 0; i < graph_.coroutines.size(); ++i) {
      const WaitGraph::Coroutine& each = graph_.coroutines[i];
      if (endless_) look_for_starvation(i);
      if (each.state != WaitGraph::State::Waiting || each.sleeps || in_ring_[i]) continue;
      for (const WaitGraph::Wait& wait : each.waits) {
        if (!wait.only_ends) look_at(i, wait.object);
      }
    }
    std::stable_sort(diagnosis_.findings.begin(), diagnosis_.findings.end(),
                     [](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
    return std::move(diagnosis_);
  }

 private:
  static int rank(const Finding& finding) noexcept {
    return finding.kind == WaitClass::Cycle ? 0 : finding.kind == WaitClass::Starvation ? 1 : 2;
  }

  void add_cycle(std::vector<RingStep> ring) {
    FERMATA_ASSERT(!ring.empty());
    Finding finding;
    finding.kind = WaitClass::Cycle;
    for (const RingStep& step : ring) {
      FERMATA_ASSERT(!in_ring_[step.coroutine]);
      finding.waiters.push_back(step.coroutine);
      in_ring_[step.coroutine] = true;
    }
    finding.ring = std::move(ring);
    diagnosis_.findings.push_back(std::move(finding));
  }

  // --- those who wait for what is in nobody's hands ---

  void look_at(std::size_t waiter, std::size_t object) {
    FERMATA_ASSERT(waiter < graph_.coroutines.size());
    FERMATA_ASSERT(object < graph_.objects.size());
    const WaitGraph::Object& node = graph_.objects[object];
    if (!node.holds.empty()) return;
    if (!node.parts.empty()) {
      if (seen_[object]) return;
      seen_[object] = true;
      for (const std::size_t part : node.parts) look_at(waiter, part);
      return;
    }
    for (Finding& known : diagnosis_.findings) {
      if (known.object != object || known.kind == WaitClass::Starvation) continue;
      known.waiters.push_back(waiter);
      return;
    }
    Finding finding;
    finding.object = object;
    finding.waiters.push_back(waiter);
    judge(node, finding);
    if (finding.kind != WaitClass::None) diagnosis_.findings.push_back(std::move(finding));
  }

  void judge(const WaitGraph::Object& node, Finding& finding) const {
    FERMATA_ASSERT(finding.kind == WaitClass::None);
    FERMATA_ASSERT(node.holds.empty());
    FERMATA_ASSERT(node.parts.empty());
    const auto is = [&](WaitClass kind, std::string text, const std::optional<Deed>& culprit) {
      finding.kind = kind;
      finding.text = std::move(text);
      finding.culprit = culprit;
    };
    const std::string title = node.title();
    if (node.kind == "timer") {
      if (!node.stopped) return;
      const std::string who = node.ended ? fmt::format("{} by {}", node.ended->did, by(*node.ended))
                                         : std::string("stopped");
      return is(WaitClass::CancelledTimer, fmt::format("{} was {}", title, who), node.ended);
    }
    if (!node.abandoned.empty()) {
      const std::string who = node.ended ? ", the last one by " + by(*node.ended) : std::string();
      return is(WaitClass::Orphan,
                fmt::format("nobody can complete {}: {}{}", title, node.abandoned, who),
                node.ended);
    }
    if (!node.former.empty()) return judge_former(node, finding);
    if (node.has_far_end) {
      return is(WaitClass::Orphan, fmt::format("nobody is at the other end of {}", title), {});
    }
    const bool unreachable = node.passive && node.only_waiters_refer;
    if (node.woken && !unreachable) return judge_woken(node, finding);
    if (!node.outside.empty()) {
      return is(
          WaitClass::Orphan,
          fmt::format("{} is up to {}, and nothing comes from there any more", title, node.outside),
          {});
    }
    if (!node.passive) return;
    if (unreachable) {
      return is(
          WaitClass::Orphan,
          fmt::format("nobody but its waiters refers to {}, so nobody can fire it", node.info),
          node.woken);
    }
    if (node.kind == "event") {
      return is(WaitClass::LostWakeUp, fmt::format("nobody is left to fire {}", node.info), {});
    }
    is(WaitClass::Orphan, fmt::format("nobody is left who could make {} fire", title), {});
  }

  /// Somebody has made it fire, and what comes of that came to somebody else, or to nobody.
  static void judge_woken(const WaitGraph::Object& node, Finding& finding) {
    FERMATA_ASSERT(node.woken.has_value());
    finding.kind = WaitClass::LostWakeUp;
    finding.text = fmt::format("{} was last {} by {}; nobody is left to do it again", node.title(),
                               node.woken->did, by(*node.woken));
    finding.culprit = node.woken;
  }

  /// Who had it in his hands has ended.
  static void judge_former(const WaitGraph::Object& node, Finding& finding) {
    FERMATA_ASSERT(!node.former.empty());
    const auto ended_in = [](const WaitGraph::Former& each) {
      return each.end ? each.end->step : 0;
    };
    const auto last =
        std::max_element(node.former.begin(), node.former.end(),
                         [&](const auto& a, const auto& b) { return ended_in(a) < ended_in(b); });
    std::vector<std::string> names;
    for (const WaitGraph::Former& each : node.former) names.push_back(each.who);
    const bool is_channel = node.kind.ends_with("channel") || node.has_far_end;
    std::string text = fmt::format("{} is {} ", node.title(), last->how);
    if (is_channel) text = fmt::format("nobody at the other side of {} is left: ", node.title());
    text += list_of(names);
    if (!last->since.empty()) text += " since " + last->since;
    text += names.size() == 1 ? ", which " + how_it_ended(*last) : ", all of which have ended";
    if (last->end) text += fmt::format(", the last one in step {}", last->end->step);
    finding.kind = is_channel ? WaitClass::Orphan : WaitClass::LostWakeUp;
    finding.text = std::move(text);
    finding.culprit = Deed{.who = last->who,
                           .did = last->end ? last->end->did : "ended",
                           .place = last->since,
                           .at = last->end ? last->end->at : Instant{},
                           .step = last->end ? last->end->step : 0};
  }

  // --- those who could go on and do not come to it ---

  void look_for_starvation(std::size_t coroutine) {
    const WaitGraph::Coroutine& each = graph_.coroutines[coroutine];
    for (const WaitGraph::Refusals& refusals : each.refusals) {
      if (refusals.times < kRefusals) continue;
      FERMATA_ASSERT(refusals.object < graph_.objects.size());
      std::string text = fmt::format("{} was refused {} {} times in a row", quoted(each.name),
                                     graph_.objects[refusals.object].title(), refusals.times);
      if (!refusals.overtaken_by.empty()) {
        text += ", while it was with " + list_of(refusals.overtaken_by);
      }
      add_starvation(coroutine, refusals.object, std::move(text), refusals.overtaken_by);
    }
    const bool passed_over = each.state == WaitGraph::State::Ready && each.ready_since != 0 &&
                             graph_.steps > each.ready_since + kStepsOfPatience;
    if (!passed_over) return;
    add_starvation(
        coroutine, WaitGraph::kNone,
        fmt::format("{} has been ready since step {} and has not run for {} steps",
                    quoted(each.name), each.ready_since, graph_.steps - each.ready_since),
        {});
  }

  void add_starvation(std::size_t coroutine, std::size_t object, std::string text,
                      const std::vector<std::string>& overtaken_by) {
    FERMATA_ASSERT(!text.empty());
    Finding finding;
    finding.kind = WaitClass::Starvation;
    finding.object = object;
    finding.waiters.push_back(coroutine);
    finding.text = std::move(text);
    if (!overtaken_by.empty()) {
      finding.culprit = Deed{.who = overtaken_by.front(), .did = "overtook", .step = 0};
    }
    diagnosis_.findings.push_back(std::move(finding));
  }

  const WaitGraph& graph_;
  bool endless_;
  std::vector<bool> in_ring_ = std::vector<bool>(graph_.coroutines.size());
  std::vector<bool> seen_ = std::vector<bool>(graph_.objects.size());
  Diagnosis diagnosis_;
};

}  // namespace

const char* to_string(WaitClass kind) noexcept {
  switch (kind) {
    case WaitClass::None:
      return "none";
    case WaitClass::Cycle:
      return "cycle";
    case WaitClass::LostWakeUp:
      return "lost wake-up";
    case WaitClass::Orphan:
      return "orphan";
    case WaitClass::CancelledTimer:
      return "cancelled timer";
    case WaitClass::Starvation:
      return "starvation";
  }
  return "none";
}

Diagnosis diagnose(const WaitGraph& graph, bool endless) {
  return Diagnostician(graph, endless).diagnose();
}

}  // namespace fermata::sim::detail
