// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/waits/wait_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/waits/bounded_wait_log.hpp"
#include "fermata/sim/waits/references.hpp"

namespace fermata::sim::detail {

namespace {

using Certainty = WaitGraph::Certainty;

std::string text_of(const SourcePlace* place) {
  if (place == nullptr) return {};
  if (place->line != 0) return fmt::format("{}:{}", place->file, place->line);
  return place->file == SourcePlace().file ? std::string()
                                           : place->text();  // Foreign code has no lines.
}

bool waits(const CoroutineBase& coroutine) noexcept {
  return coroutine.waker().status == backend::WakerStatus::Waiting;
}

/// What a coroutine does to a channel that one who wants the opposite waits for.
std::uint64_t counterpart(const BoundedWaitLog::Dealings& dealings, const std::string& wants) {
  return wants == "send" ? dealings.received : dealings.sent;
}

class Builder {
 public:
  Builder(std::span<const WaitSource> sources, bool quiet, std::uint64_t steps)
      : sources_(sources), quiet_(quiet) {
    graph_.steps = steps;
  }

  WaitGraph build() {
    for (const WaitSource& source : sources_) {
      graph_.logged = graph_.logged || source.history != nullptr;
      graph_.nodes.push_back({source.runtime->name(), source.paused});
      each_coroutine(source, [&](const CoroutineBase& each) { add(source, each); });
    }
    for (const WaitSource& source : sources_) {
      each_coroutine(source, [&](const CoroutineBase& each) { add_waits(source, each); });
    }
    FERMATA_ASSERT(asked_.size() == graph_.objects.size());
    FERMATA_ASSERT(index_.size() == graph_.coroutines.size());
    for (std::size_t i = 0; i < asked_.size(); ++i) add_past(i);
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (asked_[i].far_end != nullptr) {
        add_users(i, *asked_[i].far_end, "the other end is with", "the other end was with");
      }
      for (const Stream& each : asked_[i].through) add_users(i, *each.event, each.how, nullptr);
    }
    for (std::size_t i = 0; i < asked_.size(); ++i) add_possible(i);
    return std::move(graph_);
  }

 private:
  class Answer;

  struct Stream {
    const Event* event;
    const char* how;
  };

  /// What an object of the graph was made of.
  struct Asked {
    const Event* event;
    const Event* far_end = nullptr;
    std::vector<Stream> through = {};
    std::string wants;
    bool is_coroutine = false;
  };

  /// The index of a source, and a number there.
  using Key = std::pair<std::size_t, std::uint64_t>;

  /// `runtime` may have gone: it is only compared.
  [[nodiscard]] Key key(const Runtime* runtime, std::uint64_t number) const {
    std::size_t source = 0;
    while (source < sources_.size() && sources_[source].runtime != runtime) ++source;
    return {source, number};
  }

  template <class F>
  static void each_coroutine(const WaitSource& source, F visit) {
    for (const CoroutineBase* each = source.runtime->registry().first(); each != nullptr;
         each = each->next_registered()) {
      visit(*each);
    }
  }

  [[nodiscard]] const BoundedWaitLog* history_of(const Event& event) const {
    for (const WaitSource& source : sources_) {
      if (source.runtime == &event.runtime()) return source.history;
    }
    return nullptr;
  }

  [[nodiscard]] std::string label(const Runtime& runtime, const std::string& name) const {
    return sources_.size() > 1 ? fmt::format("{}/{}", runtime.name(), name) : name;
  }

  static std::string number(const BoundedWaitLog* history, std::uint64_t coroutine) {
    return history != nullptr ? history->number(coroutine) : std::string();
  }

  void add(const WaitSource& source, const CoroutineBase& coroutine) {
    FERMATA_ASSERT(!graph_.nodes.empty());
    index_.emplace(key(source.runtime, coroutine.id()), graph_.coroutines.size());
    WaitGraph::Coroutine& added = graph_.coroutines.emplace_back();
    added.id = coroutine.id();
    added.node = graph_.nodes.size() - 1;
    added.label = label(*source.runtime, coroutine.label());
    added.name = added.label + number(source.history, coroutine.id());
    added.spawned = text_of(&coroutine.spawn_place());
    added.suspended = text_of(coroutine.suspend_place());
    added.info = coroutine.info();
    added.main = coroutine.is_main();
    added.zombie = coroutine.is_zombie();
    if (waits(coroutine)) {
      added.state = WaitGraph::State::Waiting;
    } else if (source.runtime->current() == &coroutine) {
      added.state = WaitGraph::State::Running;
      added.suspended.clear();
    }
    if (source.history != nullptr) added.ready_since = source.history->ready_since(coroutine);
  }

  /// kNone when it has ended.
  [[nodiscard]] std::size_t index_of(const Runtime& runtime, std::uint64_t id) const {
    const auto found = index_.find(key(&runtime, id));
    return found != index_.end() ? found->second : WaitGraph::kNone;
  }

  void add_waits(const WaitSource& source, const CoroutineBase& coroutine) {
    const std::size_t index = index_of(*source.runtime, coroutine.id());
    FERMATA_ASSERT(index != WaitGraph::kNone);
    add_refusals(source, coroutine, index);
    if (!waits(coroutine)) return;
    for (const backend::Registration* each = coroutine.waker().first(); each != nullptr;
         each = each->next()) {
      const Event& event = each->source();
      const bool custom_timer =
          each->rule() == backend::WakeRule::Custom && event.kind() == backend::EventKind::Timer;
      WaitGraph::Wait wait;
      wait.only_ends = each->rule() == backend::WakeRule::Token ||
                       each->rule() == backend::WakeRule::Timeout || custom_timer;
      wait.object = object_of(event, coroutine, &wait.wants);
      FERMATA_ASSERT(wait.object < asked_.size());
      if (!quiet_ && comes_by_itself(event)) graph_.coroutines[index].sleeps = true;
      graph_.coroutines[index].waits.push_back(std::move(wait));
    }
  }

  [[nodiscard]] static bool comes_by_itself(const Event& event) noexcept {
    return event.counts_as_active() || (event.kind() == backend::EventKind::Timer &&
                                        event.is_hidden() && event.loop_ref_count() > 0);
  }

  void add_refusals(const WaitSource& source, const CoroutineBase& coroutine, std::size_t index) {
    if (source.history == nullptr) return;
    const Event* event = source.runtime->kernel().live_events.first();
    for (; event != nullptr; event = event->next_live()) {
      const BoundedWaitLog::Object* past = source.history->find(*event);
      if (past == nullptr) continue;
      const auto dealings = past->by.find(coroutine.id());
      if (dealings == past->by.end() || dealings->second.refused == 0) continue;
      WaitGraph::Refusals refusals;
      refusals.object = object_of(*event, coroutine);
      refusals.times = dealings->second.refused;
      for (const std::uint64_t id : dealings->second.overtaken_by) {
        refusals.overtaken_by.push_back(label(*source.runtime, source.history->label(id)));
      }
      FERMATA_ASSERT(index < graph_.coroutines.size());
      graph_.coroutines[index].refusals.push_back(std::move(refusals));
    }
  }

  /// The object of the graph that stands for `event`, which `waiter` waits for. `wants`, unless
  /// null, is set to what that one wants of it: others may want something else.
  std::size_t object_of(const Event& event, const CoroutineBase& waiter,
                        std::string* wants = nullptr);
  void ask(std::size_t object, const Event& event, const CoroutineBase& waiter);
  void add_part(std::size_t object, const Event& part, const CoroutineBase& waiter) {
    const std::size_t index = object_of(part, waiter);
    FERMATA_ASSERT(index < graph_.objects.size());
    auto& parts = graph_.objects[object].parts;
    if (std::find(parts.begin(), parts.end(), index) == parts.end()) parts.push_back(index);
  }

  void hold(std::size_t object, const Runtime& runtime, std::uint64_t id, Certainty certainty,
            std::string how, std::string since) {
    FERMATA_ASSERT(object < graph_.objects.size());
    const std::size_t by = index_of(runtime, id);
    if (by != WaitGraph::kNone) {
      graph_.objects[object].holds.push_back(
          {.by = by, .certainty = certainty, .how = std::move(how), .since = std::move(since)});
      return;
    }
    WaitGraph::Former former{.how = std::move(how), .since = std::move(since), .end = std::nullopt};
    former.who = label(runtime, fmt::format("coroutine {}", id));
    const BoundedWaitLog* history = history_of(*asked_[object].event);
    if (history != nullptr) {
      former.who = label(runtime, history->label(id));
      const BoundedWaitLog::Person* person = history->find(id);
      if (person != nullptr && person->end) former.end = deed(runtime, *history, *person->end);
    }
    graph_.objects[object].former.push_back(std::move(former));
  }

  [[nodiscard]] WaitGraph::Deed deed(const Runtime& runtime, const BoundedWaitLog& history,
                                     const BoundedWaitLog::Deed& done) const {
    WaitGraph::Deed deed;
    deed.who = done.who != 0 ? label(runtime, history.label(done.who)) : "nobody";
    deed.did = done.did;
    FERMATA_ASSERT(!deed.did.empty());
    deed.place = text_of(&done.place);
    if (!done.exact && !deed.place.empty()) deed.place = "the step after " + deed.place;
    if (done.woke != 0) deed.woke = label(runtime, history.label(done.woke));
    deed.at = done.at;
    deed.step = done.step;
    return deed;
  }

  // --- what the history says ---

  void add_past(std::size_t object) {
    FERMATA_ASSERT(object < asked_.size());
    const Event& event = *asked_[object].event;
    const BoundedWaitLog* history = history_of(event);
    const BoundedWaitLog::Object* past = history != nullptr ? history->find(event) : nullptr;
    if (past == nullptr) return;
    WaitGraph::Object& node = graph_.objects[object];
    const Runtime& runtime = event.runtime();
    if (past->woken) node.woken = deed(runtime, *history, *past->woken);
    if (past->ended) node.ended = deed(runtime, *history, *past->ended);
    const bool is_channel = node.kind == "channel";
    for (const auto& [id, dealings] : past->by) {
      const std::string since = text_of(&dealings.last.place);
      if (dealings.balance > 0) {
        const bool one = dealings.balance == 1;
        hold(object, runtime, id, Certainty::Likely,
             one ? "held by" : fmt::format("held {} times by", dealings.balance), since);
      }
      if (is_channel && counterpart(dealings, asked_[object].wants) > 0) {
        const char* role = asked_[object].wants == "send" ? "received by" : "sent to by";
        hold(object, runtime, id, Certainty::Likely, role, {});
      }
      if (dealings.arrived > 0 && !waits_here(object, runtime, id)) {
        hold(object, runtime, id, Certainty::Likely, "arrived at before by", since);
      }
    }
  }

  [[nodiscard]] bool waits_here(std::size_t object, const Runtime& runtime,
                                std::uint64_t id) const {
    const std::size_t index = index_of(runtime, id);
    if (index == WaitGraph::kNone) return false;
    const auto& waits = graph_.coroutines[index].waits;
    return std::any_of(waits.begin(), waits.end(),
                       [&](const WaitGraph::Wait& wait) { return wait.object == object; });
  }

  void hold_once(std::size_t object, std::size_t by, Certainty certainty, const char* how) {
    FERMATA_ASSERT(by < graph_.coroutines.size());
    auto& holds = graph_.objects[object].holds;
    const bool known =
        std::any_of(holds.begin(), holds.end(), [&](const auto& hold) { return hold.by == by; });
    if (!known) holds.push_back({.by = by, .certainty = certainty, .how = how});
  }

  /// Adds those who wait at `end`, one end of a connection, or have used it; those who have ended
  /// are added only with `formerly`.
  void add_users(std::size_t object, const Event& end, const char* how, const char* formerly) {
    for (std::size_t i = 0; i < graph_.coroutines.size(); ++i) {
      for (const WaitGraph::Wait& wait : graph_.coroutines[i].waits) {
        if (asked_[wait.object].event == &end) hold_once(object, i, Certainty::Known, how);
      }
    }
    const BoundedWaitLog* history = history_of(end);
    const BoundedWaitLog::Object* past = history != nullptr ? history->find(end) : nullptr;
    if (past == nullptr) return;
    for (const auto& [id, dealings] : past->by) {
      const std::size_t by = index_of(end.runtime(), id);
      if (by != WaitGraph::kNone) {
        hold_once(object, by, Certainty::Likely, how);
      } else if (formerly != nullptr) {
        hold(object, end.runtime(), id, Certainty::Likely, formerly, {});
      }
    }
  }

  /// Somebody of any of the runtimes; one whose runtime has gone has gone with it.
  void hold_by(std::size_t object, const backend::WaitPerson& person, const char* how) {
    const auto found = index_.find(key(person.runtime, person.coroutine));
    if (found != index_.end()) {
      hold_once(object, found->second, Certainty::Likely, how);
    } else {
      graph_.objects[object].former.push_back(
          {.who = person.label, .how = how, .end = std::nullopt});
    }
  }

  void hold_by_all_of(std::size_t object, const Runtime* run) {
    for (const WaitSource& source : sources_) {
      if (source.runtime != run) continue;
      each_coroutine(source, [&](const CoroutineBase& each) {
        hold_once(object, index_of(*run, each.id()), Certainty::Known, "the end of");
      });
    }
  }

  /// A channel whose other side nobody has ever used: those who wait for something else and could.
  /// Who only joins others is asked last, and only about what is full.
  void add_possible(std::size_t object) {
    WaitGraph::Object& node = graph_.objects[object];
    const bool known = !node.holds.empty() || !node.former.empty();
    if (!node.kind.ends_with("channel") || known || !graph_.logged) return;
    const bool full = asked_[object].wants == "send";
    for (const bool joins : {false, true}) {
      if (joins && (!full || !node.holds.empty())) return;
      for (std::size_t i = 0; i < graph_.coroutines.size(); ++i) {
        const WaitGraph::Coroutine& each = graph_.coroutines[i];
        if (each.state != WaitGraph::State::Waiting || each.sleeps) continue;
        if (joins_others(each) != joins || waits_for(each, object)) continue;
        const char* how = full ? "could be received by" : "could be sent to by";
        node.holds.push_back({.by = i, .certainty = Certainty::Possible, .how = how});
      }
    }
  }

  [[nodiscard]] static bool waits_for(const WaitGraph::Coroutine& coroutine, std::size_t object) {
    return std::any_of(coroutine.waits.begin(), coroutine.waits.end(),
                       [&](const WaitGraph::Wait& wait) { return wait.object == object; });
  }
  [[nodiscard]] bool joins_others(const WaitGraph::Coroutine& coroutine) const {
    return std::any_of(
        coroutine.waits.begin(), coroutine.waits.end(), [&](const WaitGraph::Wait& wait) {
          return asked_[wait.object].is_coroutine || !graph_.objects[wait.object].parts.empty();
        });
  }

  std::span<const WaitSource> sources_;
  bool quiet_;
  WaitGraph graph_;
  std::vector<Asked> asked_;                                 // Beside graph_.objects.
  std::map<Key, std::size_t> index_;                         // By id.
  std::map<Key, std::size_t> object_index_;                  // By serial.
  std::vector<std::pair<const void*, std::size_t>> shared_;  // By identity; only compared.
};

/// One object's answer, written into the graph.
class Builder::Answer final : public backend::WaitFacts {
 public:
  Answer(Builder& builder, std::size_t object, const CoroutineBase& waiter)
      : builder_(builder), object_(object), waiter_(waiter) {}

  void is(const char* kind, std::string_view name, const SourcePlace* made) override {
    FERMATA_ASSERT(kind[0] != '\0');
    node().kind = kind;
    node().name = name;
    node().made = text_of(made);
  }
  void state(std::string text) override { node().state = std::move(text); }
  void wanted(std::string_view what) override { asked().wants = what; }
  void held_by(std::uint64_t coroutine, const SourcePlace* since) override {
    const Runtime& runtime = asked().event->runtime();
    if (builder_.index_of(runtime, coroutine) == WaitGraph::kNone) node().holder_ended = true;
    builder_.hold(object_, runtime, coroutine, Certainty::Known, "held by", text_of(since));
  }
  void needs(const Event& part) override { builder_.add_part(object_, part, waiter_); }
  void accepts(const Event& part) override {
    node().any_part = true;
    needs(part);
  }
  void across(const Event&, const Event& far_end) override {
    asked().far_end = &far_end;
    node().has_far_end = true;
  }
  void abandoned(const char* why) override { node().abandoned = why; }
  void stopped() override { node().stopped = true; }
  void stands_for(const void*) override { node().passive = true; }
  void in_hands_of(const backend::WaitPerson& person, const char* how) override {
    builder_.hold_by(object_, person, how);
  }
  void ends_with(const Runtime* run) override { builder_.hold_by_all_of(object_, run); }
  void through(const Event& stream, const char* how) override {
    asked().through.push_back({&stream, how});
  }
  void outside(std::string_view whom) override { node().outside = whom; }

 private:
  [[nodiscard]] WaitGraph::Object& node() const { return builder_.graph_.objects[object_]; }
  [[nodiscard]] Asked& asked() const { return builder_.asked_[object_]; }

  Builder& builder_;
  std::size_t object_;
  const CoroutineBase& waiter_;
};

namespace {

/// Finds out which object a request belongs to, and what whoever waits wants of it. Both ends of a
/// connection are one object each.
class Identity final : public backend::WaitFacts {
 public:
  explicit Identity(const Event& event) noexcept : event_(&event) {}
  [[nodiscard]] const Event& event() const noexcept { return *event_; }
  /// What it shares with others, or null.
  [[nodiscard]] const void* shared() const noexcept { return shared_; }
  [[nodiscard]] const std::string& wants() const noexcept { return wants_; }

  void is(const char*, std::string_view, const SourcePlace*) override {}
  void state(std::string) override {}
  void wanted(std::string_view what) override { wants_ = what; }
  void held_by(std::uint64_t, const SourcePlace*) override {}
  void needs(const Event&) override {}
  void accepts(const Event&) override {}
  void across(const Event& near_end, const Event&) override { event_ = &near_end; }
  void abandoned(const char*) override {}
  void stopped() override {}
  void stands_for(const void* shared) override { shared_ = shared; }
  void in_hands_of(const backend::WaitPerson&, const char*) override {}
  void ends_with(const Runtime*) override {}
  void through(const Event&, const char*) override {}
  void outside(std::string_view) override {}

 private:
  const Event* event_;
  const void* shared_ = nullptr;
  std::string wants_;
};

}  // namespace

std::size_t Builder::object_of(const Event& event, const CoroutineBase& waiter,
                               std::string* wants) {
  Identity identity(event);
  event.explain_wait(identity, waiter);
  if (wants != nullptr) *wants = identity.wants();
  const Event& subject = identity.event();
  const std::size_t next = graph_.objects.size();
  FERMATA_ASSERT(asked_.size() == next);
  std::size_t object = next;
  if (identity.shared() != nullptr) {
    const auto known = std::find_if(shared_.begin(), shared_.end(), [&](const auto& each) {
      return each.first == identity.shared();
    });
    if (known != shared_.end()) {
      object = known->second;
    } else {
      shared_.emplace_back(identity.shared(), next);
    }
  } else {
    object = object_index_.emplace(key(&subject.runtime(), subject.serial()), next).first->second;
  }
  const bool fresh = object == next;
  if (fresh) {
    graph_.objects.emplace_back();
    asked_.push_back({.event = &subject,
                      .far_end = nullptr,
                      .is_coroutine = event.kind() == backend::EventKind::Coroutine});
    ask(object, event, waiter);
  }
  FERMATA_ASSERT(object < graph_.objects.size());
  return object;
}

void Builder::ask(std::size_t object, const Event& event, const CoroutineBase& waiter) {
  FERMATA_ASSERT(object + 1 == graph_.objects.size());
  {
    WaitGraph::Object& node = graph_.objects[object];
    node.info = event.info();
    node.serial = event.serial();
    node.kind = "event";
    node.made = text_of(event.made_at());
    node.passive = event.kind() == backend::EventKind::Plain;
    node.only_waiters_refer = only_waiters_refer_to(event);
  }
  if (event.kind() == backend::EventKind::Coroutine) {
    const auto& coroutine = static_cast<const CoroutineBase&>(event);
    graph_.objects[object].kind = "join";
    graph_.objects[object].name =
        label(event.runtime(), coroutine.label()) + number(history_of(event), coroutine.id());
    if (!coroutine.is_closed()) {
      hold(object, event.runtime(), coroutine.id(), Certainty::Known, "the end of", {});
    }
    return;
  }
  Answer answer(*this, object, waiter);
  event.explain_wait(answer, waiter);
  if (event.kind() != backend::EventKind::Plain) return;
  for (const Event* each = event.runtime().kernel().live_events.first(); each != nullptr;
       each = each->next_live()) {
    if (each->answers_for(event)) add_part(object, *each, waiter);
  }
}

}  // namespace

std::string WaitGraph::Object::title() const {
  FERMATA_ASSERT(!kind.empty());
  if (!name.empty()) return fmt::format("{} '{}'", kind, name);
  if (kind == "event" || kind == "timer") return fmt::format("{} #{}", kind, serial);
  return made.empty() ? kind : fmt::format("{} made at {}", kind, made);
}

const char* to_string(WaitGraph::State state) noexcept {
  switch (state) {
    case WaitGraph::State::Ready:
      return "ready";
    case WaitGraph::State::Running:
      return "running";
    case WaitGraph::State::Waiting:
      return "waiting";
  }
  return "ready";
}

WaitGraph make_wait_graph(std::span<const WaitSource> sources, bool quiet, std::uint64_t steps) {
  return Builder(sources, quiet, steps).build();
}

}  // namespace fermata::sim::detail
