// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/step_probe.hpp"

#include <fmt/format.h>

#include <array>

#include "fermata/core/coroutine.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/base/stack_text.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kDecisionsKept = 3;

/// In the order of Trace.
constexpr std::array<std::string_view, 21> kVerbs = {"makes",
                                                     "starts",
                                                     "stops",
                                                     "fires",
                                                     "closes",
                                                     "frees",
                                                     "subscribes to",
                                                     "leaves",
                                                     "tells a subscriber of",
                                                     "spawns",
                                                     "makes ready",
                                                     "begins",
                                                     "goes on as",
                                                     "gives way as",
                                                     "ends",
                                                     "cancels",
                                                     "runs a microtask",
                                                     "looks at the reactor",
                                                     "sees time pass",
                                                     "reports a deadlock",
                                                     "begins to shut down"};
static_assert(kVerbs.size() == static_cast<std::size_t>(backend::Trace::ShutdownStarted) + 1);

bool is_of_coroutine(backend::Trace kind) noexcept {
  return kind >= backend::Trace::Spawned && kind <= backend::Trace::Cancelled;
}

// While an event is made, or unmade, it has no name.
std::string subject_text(backend::Trace kind, const Event& subject) {
  if (is_of_coroutine(kind)) {
    return fmt::format("'{}'", static_cast<const CoroutineBase&>(subject).label());
  }
  return fmt::format("{} #{}", to_string(subject.kind()), subject.serial());
}

// Each machine counts its own objects.
std::uint64_t place_key(std::string_view machine, const Event& coroutine) {
  return key_of(key_of(machine), coroutine.serial());
}

}  // namespace

void StepProbe::note(std::string_view machine, backend::Trace kind, const Event* subject,
                     std::uint64_t detail, Instant at, std::uint64_t step) {
  FERMATA_ASSERT(static_cast<std::size_t>(kind) < kVerbs.size());
  FERMATA_ASSERT(subject != nullptr || !is_of_coroutine(kind));
  if (kind == backend::Trace::Left) {
    suspended_[place_key(machine, *subject)] =
        *static_cast<const CoroutineBase*>(subject)->suspend_place();
  }
  if (step < first_ || step > last_) return;
  const auto [found, is_new] = steps_.try_emplace(step);
  Step& noted = found->second;
  if (is_new) noted.decisions = decisions_;
  const bool begins = kind == backend::Trace::Started;
  if (begins || kind == backend::Trace::Entered) noted.who = who(machine, *subject, begins, at);
  const std::uint64_t serial = subject != nullptr ? subject->serial() : 0;
  Item item;
  item.identity = key_of(key_of(static_cast<std::uint64_t>(kind), serial), detail);
  item.text = std::string(kVerbs[static_cast<std::size_t>(kind)]);
  if (subject != nullptr) item.text += ' ' + subject_text(kind, *subject);
  if (kind == backend::Trace::Left) {
    item.text += " at " + static_cast<const CoroutineBase*>(subject)->suspend_place()->text();
  }
  if (kind == backend::Trace::TimeAdvanced) {
    item.text += " until " + describe(Instant{static_cast<std::int64_t>(detail)});
  } else if (kind == backend::Trace::Enqueued || kind == backend::Trace::EventFired) {
    item.text += fmt::format(" ({})", detail);
  }
  item.stack = present_stack();
  noted.items.push_back(std::move(item));
}

std::string StepProbe::who(std::string_view machine, const Event& coroutine, bool begins,
                           Instant at) const {
  FERMATA_ASSERT(coroutine.kind() == backend::EventKind::Coroutine);
  const auto& body = static_cast<const CoroutineBase&>(coroutine);
  const auto suspended = suspended_.find(place_key(machine, coroutine));
  const std::string name = fmt::format("{} '{}' of '{}', ", describe(at), body.label(), machine);
  if (begins) return name + "spawned at " + body.spawn_place().text();
  return name + "suspended at " +
         (suspended != suspended_.end() ? suspended->second : SourcePlace()).text();
}

void StepProbe::decided(const Decision& decision) {
  FERMATA_ASSERT(decisions_.empty() || decisions_.back().index < decision.index);
  decisions_.push_back(decision);
  if (decisions_.size() > kDecisionsKept) decisions_.pop_front();
  if (!steps_.empty()) steps_.rbegin()->second.decisions = decisions_;
}

const StepProbe::Step& StepProbe::step(std::uint64_t number) const {
  static const Step kNothing;
  const auto found = steps_.find(number);
  return found != steps_.end() ? found->second : kNothing;
}

}  // namespace fermata::sim
