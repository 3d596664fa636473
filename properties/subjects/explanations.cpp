// SPDX-License-Identifier: Apache-2.0

// Programs that tie knots, each of which nobody can undo: rings of locks and joins, permits and
// locks that went with their holder, wake-ups that came too early or to somebody else, promises,
// timers and channels that nobody has at heart any more. Others only pass by. Of each knot is
// known what must be said of it, and of nobody else anything is.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/runtime.hpp"
#include "fermata/sim/run/runner.hpp"
#include "properties/interpreter/state.hpp"
#include "properties/laws/law.hpp"
#include "properties/models/blame_model.hpp"
#include "properties/scripts/step.hpp"
#include "properties/subjects/inner_run.hpp"

namespace fermata::properties {
namespace {
namespace explanations {

using models::Blame;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Json = nlohmann::ordered_json;

/// What a step ties; its number says how, its subject for how many.
enum class Knot : std::uint8_t {
  Ring,
  LockOfOneWhoLeft,
  PermitOfOneWhoLeft,
  Notified,
  Fired,
  EventOfNobody,
  PromiseDropped,
  PromiseKept,
  TimerClosed,
  ChannelLeft,
  BarrierShort,
  Bystander,
};
constexpr std::array kKnotNames = {
    "ring",         "lock of one who left", "permit of one who left", "notified",
    "fired",        "event of nobody",      "promise dropped",        "promise kept",
    "timer closed", "channel left",         "barrier short",          "bystander"};

enum class End : std::uint8_t {
  Quiet,    // the main coroutine waits too
  Watched,  // it goes on forever, and everybody can be reached through a handle
  Left,     // likewise, and nobody has a handle
};

struct Story {
  End end = End::Quiet;
  Steps knots;
};

constexpr std::uint64_t kStepLimit = 500;

/// The program, which lives as long as any of its coroutines, and what is expected of it.
class Scene {
 public:
  explicit Scene(std::shared_ptr<models::BlameModel> expected) : model_(std::move(expected)) {}

  /// In the main coroutine of a world.
  static void play(const std::shared_ptr<Scene>& scene, const Story& story) {
    for (const Step& knot : story.knots) scene->tie(scene, knot);
    delay(seconds(1));
    if (story.end == End::Quiet) {
      scene->model_->waits("main", Fate::Waits);
      scene->model_->blame({.kind = "orphan", .object = "future 'never'", .waiters = {"main"}});
      static_cast<void>(await(scene->never_.future()));
    }
    if (story.end == End::Left) scene->members_.clear();
    for (;;) suspend();
  }

 private:
  using Fate = models::BlameModel::Fate;

  /// Something with a name that tells it from all others.
  std::string named(const char* what) { return fmt::format("{} {}", what, ++things_); }

  /// Returns what reports call the new coroutine; those of one label are numbered.
  template <class Body>
  std::string start(const std::shared_ptr<Scene>& scene, const char* label, Body body) {
    members_.push_back(spawn(std::string(label), [scene, body = std::move(body)] { body(); }));
    return model_->name_of(label);
  }

  void tie(const std::shared_ptr<Scene>& scene, const Step& knot) {
    const std::size_t many = 1 + knot.subject;
    switch (static_cast<Knot>(knot.what)) {
      case Knot::Ring:
        return ring(scene, many + 1, knot.number);
      case Knot::LockOfOneWhoLeft:
        return lock_of_one_who_left(scene, many);
      case Knot::PermitOfOneWhoLeft:
        return permit_of_one_who_left(scene, many);
      case Knot::Notified:
        return notified(scene, many, knot.number % 2 == 0);
      case Knot::Fired:
        return fired(scene, many, knot.number % 2 == 0);
      case Knot::EventOfNobody:
        return event_of_nobody(scene, many);
      case Knot::PromiseDropped:
        return promise_dropped(scene, many);
      case Knot::PromiseKept:
        return promise_kept(scene, many);
      case Knot::TimerClosed:
        return timer_closed(scene);
      case Knot::ChannelLeft:
        return channel_left(scene, knot.number);
      case Knot::BarrierShort:
        return barrier_short(scene, many);
      case Knot::Bystander:
        return pass_by(scene, knot.number);
    }
  }

  // --- rings ---

  enum class Link : std::uint8_t { Lock, Join, JoinOfSeveral };

  /// Everybody has a lock, and waits for the lock or the end of the next one; one more waits for
  /// the first lock, and is not part of it.
  void ring(const std::shared_ptr<Scene>& scene, std::size_t many, std::uint8_t number) {
    struct Member {
      explicit Member(const std::string& lock) : mutex(lock) {}
      Mutex mutex;
      Coroutine<> coroutine;
    };
    const auto members = std::make_shared<std::vector<std::unique_ptr<Member>>>();
    std::vector<std::string> locks;
    for (std::size_t i = 0; i < many; ++i) {
      members->push_back(std::make_unique<Member>(locks.emplace_back(named("lock"))));
    }
    std::vector<std::string> names;
    bool only_locks = true;
    std::vector<Link> links;
    for (std::size_t i = 0; i < many; ++i) {
      links.push_back(static_cast<Link>(number / 2u % 2 == 0 ? 0 : (number + i) % 3));
      only_locks = only_locks && links[i] == Link::Lock;
      names.push_back(start(scene, "member", [members, i, link = links[i]] {
        Member& next = *(*members)[(i + 1) % members->size()];
        const Mutex::Guard mine((*members)[i]->mutex);
        delay(milliseconds(1));
        wait_for(next.mutex, next.coroutine, link);
      }));
    }
    // Whoever joins them needs a handle.
    for (std::size_t i = 0; i < many && !only_locks; ++i) {
      (*members)[i]->coroutine = members_[members_.size() - many + i];
    }
    const Fate fate = only_locks ? Fate::Stuck : Fate::Hopeless;
    Blame blame{.kind = "cycle"};
    for (std::size_t i = 0; i < many; ++i) {
      const std::size_t next = (i + 1) % many;
      const bool by_lock = links[i] == Link::Lock;
      blame.cycle.emplace_back(names[i], by_lock ? fmt::format("mutex '{}'", locks[next])
                                                 : fmt::format("join '{}'", names[next]));
      model_->waits(names[i], fate);
    }
    blame.waiters = names;
    model_->blame(std::move(blame));
    if (number % 2 == 0) return;
    model_->waits(start(scene, "follower",
                        [members] {
                          delay(milliseconds(10));
                          members->front()->mutex.lock();
                        }),
                  fate);
  }

  static void wait_for(Mutex& mutex, const Coroutine<>& coroutine, Link link) {
    switch (link) {
      case Link::Lock:
        return mutex.lock();
      case Link::Join:
        return await(coroutine);
      case Link::JoinOfSeveral: {
        const std::vector<Coroutine<>> both = {coroutine, spawn("helper", [] { suspend(); })};
        when_all_settled(both);
        return;
      }
    }
  }

  // --- what went with its holder ---

  void lock_of_one_who_left(const std::shared_ptr<Scene>& scene, std::size_t many) {
    const std::string name = named("lock");
    const auto mutex = std::make_shared<Mutex>(name);
    const std::string thief = start(scene, "thief", [mutex] { mutex->lock(); });
    expect({.kind = "lost wake-up", .object = fmt::format("mutex '{}'", name)}, {thief, "ended"},
           wait_late(scene, many, [mutex] { mutex->lock(); }), Fate::Stuck);
  }

  void permit_of_one_who_left(const std::shared_ptr<Scene>& scene, std::size_t many) {
    const std::string name = named("permits");
    const auto permits = std::make_shared<Semaphore>(name, 1);
    start(scene, "lender", [permits] {
      permits->acquire();
      permits->release();
    });
    const std::string thief = start(scene, "thief", [permits] {
      delay(milliseconds(5));
      permits->acquire();
    });
    expect({.kind = "lost wake-up", .object = fmt::format("semaphore '{}'", name)},
           {thief, "ended"}, wait_late(scene, many, [permits] { permits->acquire(); }),
           Fate::Waits);
  }

  // --- what came too early, or to somebody else ---

  /// With `to_another` there is one who waits in time.
  void notified(const std::shared_ptr<Scene>& scene, std::size_t many, bool to_another) {
    struct Desk {
      explicit Desk(const std::string& name) : condition(name) {}
      void wait() {
        const Mutex::Guard guard(mutex);
        condition.wait(mutex);
      }
      Mutex mutex;
      Condition condition;
    };
    const std::string name = named("news");
    const auto desk = std::make_shared<Desk>(name);
    std::string woken;
    if (to_another) woken = start(scene, "reader", [desk] { desk->wait(); });
    const std::string notifier = start(scene, "notifier", [desk] {
      delay(milliseconds(5));
      desk->condition.notify_one();
    });
    expect({.kind = "lost wake-up", .object = fmt::format("condition '{}'", name)},
           {notifier, "notified", woken}, wait_late(scene, many, [desk] { desk->wait(); }),
           Fate::Waits);
  }

  void fired(const std::shared_ptr<Scene>& scene, std::size_t many, bool to_another) {
    const auto bell = Ref<PlainEvent>::adopt(*new PlainEvent(current_runtime(), false));
    std::string woken;
    if (to_another) woken = start(scene, "listener", [bell] { wait(*bell); });
    const std::string ringer = start(scene, "ringer", [bell] {
      delay(milliseconds(5));
      bell->notify({});
    });
    expect({.kind = "lost wake-up", .object = "event"}, {ringer, "fired", woken},
           wait_late(scene, many, [bell] { wait(*bell); }), Fate::Waits);
  }

  // --- what nobody can do any more ---

  /// While they wait for it its owner loses it.
  void event_of_nobody(const std::shared_ptr<Scene>& scene, std::size_t many) {
    const auto owned = std::make_shared<Ref<PlainEvent>>(
        Ref<PlainEvent>::adopt(*new PlainEvent(current_runtime(), false)));
    start(scene, "owner", [owned] {
      delay(milliseconds(20));
      *owned = {};
    });
    expect({.kind = "orphan", .object = "event"}, {},
           wait_late(scene, many, [&event = **owned] { wait(event); }), Fate::Stuck);
  }

  void promise_dropped(const std::shared_ptr<Scene>& scene, std::size_t many) {
    const std::string name = named("answer");
    const auto promise = std::make_shared<std::optional<Promise<int>>>(
        std::in_place, PromiseOptions{.name = name, .breaks = false});
    const auto future = (*promise)->future();
    const std::string dropper = start(scene, "dropper", [promise] {
      delay(milliseconds(5));
      promise->reset();
    });
    expect({.kind = "orphan", .object = fmt::format("future '{}'", name)}, {dropper, "dropped"},
           wait_late(scene, many, [future] { static_cast<void>(await(future)); }), Fate::Hopeless);
  }

  void promise_kept(const std::shared_ptr<Scene>& scene, std::size_t many) {
    const std::string name = named("answer");
    const auto promise = std::make_shared<Promise<int>>(name);
    expect({.kind = "orphan", .object = fmt::format("future '{}'", name)}, {},
           wait_late(scene, many, [promise] { static_cast<void>(await(promise->future())); }),
           Fate::Waits);
  }

  void timer_closed(const std::shared_ptr<Scene>& scene) {
    const auto alarm = std::make_shared<Ref<Timer>>(make_timer(current_runtime(), seconds(900)));
    const std::string sleeper = start(scene, "sleeper", [alarm] { wait(**alarm); });
    const std::string closer = start(scene, "closer", [alarm] {
      delay(milliseconds(5));
      (*alarm)->close();
    });
    expect({.kind = "cancelled timer", .object = "timer"}, {closer, "closed"}, {sleeper},
           Fate::Waits);
  }

  void channel_left(const std::shared_ptr<Scene>& scene, std::uint8_t number) {
    const std::string name = named("letters");
    const auto channel = std::make_shared<Channel<int>>(name, 1u + number % 2);
    const std::string sender = start(scene, "sender", [channel, number] {
      for (int i = 0; i <= number; ++i) channel->send(i);
    });
    const std::string receiver = start(scene, "receiver", [channel] {
      for (;;) static_cast<void>(channel->recv());
    });
    expect({.kind = "orphan", .object = fmt::format("channel '{}'", name)}, {sender, "ended"},
           {receiver}, Fate::Waits);
  }

  void barrier_short(const std::shared_ptr<Scene>& scene, std::size_t many) {
    const std::string name = named("gate");
    const auto barrier = std::make_shared<Barrier>(name, many + 1);
    expect({.kind = "orphan", .object = fmt::format("barrier '{}'", name)}, {},
           wait_late(scene, many, [barrier] { barrier->arrive_and_wait(); }), Fate::Waits);
  }

  // --- what is not a knot ---

  void pass_by(const std::shared_ptr<Scene>& scene, std::uint8_t number) {
    switch (number % 3) {
      case 0:
        start(scene, "passer-by", [] { delay(milliseconds(3)); });
        return;
      case 1:
        return model_->sleeps(start(scene, "sleeper", [] { delay(seconds(500)); }));
      default:
        return model_->sleeps(start(scene, "patient", [scene = scene.get()] {
          try {
            static_cast<void>(await(scene->never_.future(), {.timeout = seconds(400)}));
          } catch (const Timeout&) {
          }
        }));
    }
  }

  // --- what is shared ---

  template <class Wait>
  std::vector<std::string> wait_late(const std::shared_ptr<Scene>& scene, std::size_t many,
                                     const Wait& wait) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < many; ++i) {
      names.push_back(start(scene, "waiter", [wait] {
        delay(milliseconds(10));
        wait();
      }));
    }
    return names;
  }

  void expect(Blame blame, Blame::Culprit culprit, std::vector<std::string> waiters, Fate fate) {
    for (const std::string& each : waiters) model_->waits(each, fate);
    blame.culprit = std::move(culprit);
    blame.waiters = std::move(waiters);
    model_->blame(std::move(blame));
  }

  std::shared_ptr<models::BlameModel> model_;
  std::vector<Coroutine<>> members_;
  Promise<int> never_{"never"};
  int things_ = 0;
};

// --- what is told of it ---

std::string text_or_empty(const Json& json, const char* member) {
  return json.contains(member) ? json[member].get<std::string>() : std::string();
}

/// The title of an object without a name, which is a number, says nothing.
std::string title_of(const Json& json) {
  const std::string title = json;
  return title.substr(0, title.find(" #"));
}

Blame blame_of(const Json& finding) {
  Blame blame{.kind = finding["class"], .waiters = finding["waiters"]};
  if (finding.contains("object")) blame.object = title_of(finding["object"]);
  if (finding.contains("cycle")) {
    for (const Json& each : finding["cycle"]) {
      blame.cycle.emplace_back(each["coroutine"], each["waits_for"].back());
    }
  }
  if (finding.contains("culprit")) {
    const Json& culprit = finding["culprit"];
    blame.culprit = {culprit["who"], culprit["did"], text_or_empty(culprit, "woke")};
  }
  return blame;
}

class Judge {
 public:
  Judge(const Story& story, const models::BlameModel& model, const sim::Failure& failure)
      : story_(story), model_(model), failure_(failure) {}

  /// The first thing that is wrong.
  [[nodiscard]] models::Complaint judge() const {
    if (const std::string expected = headline(); failure_.message.find(expected) != 0) {
      return fmt::format("BLAME: '{}' is told instead of '{}'", failure_.message, expected);
    }
    const Json graph = Json::parse(failure_.wait_graph);
    std::vector<Blame> blames;
    for (const Json& each : graph["findings"]) {
      blames.push_back(blame_of(each));
      if (models::Complaint complaint = judge_words(each); !complaint.empty()) return complaint;
    }
    models::Complaint complaint = model_.judge_blames(blames);
    if (complaint.empty()) complaint = model_.judge_waits(waits_in(graph), !is_quiet());
    return complaint;
  }

 private:
  using Fate = models::BlameModel::Fate;

  [[nodiscard]] bool is_quiet() const { return story_.end == End::Quiet; }

  [[nodiscard]] std::string headline() const {
    if (is_quiet()) {
      return fmt::format(
          "fermata::DeadlockError: Deadlock detected: no active coroutines, {} coroutines in "
          "waiting",
          model_.waiting());
    }
    const bool left = story_.end == End::Left && !model_.headline(Fate::Stuck).empty();
    const std::string who = model_.headline(left ? Fate::Stuck : Fate::Hopeless);
    return who.empty() ? "livelock: " : fmt::format("partial deadlock: {} can never go on", who);
  }

  /// People are told the same as programs.
  [[nodiscard]] models::Complaint judge_words(const Json& finding) const {
    const std::string kind = finding["class"];
    std::string words = kind + ": ";
    if (finding.contains("cycle")) {
      words += fmt::format("'{}' --", finding["cycle"][0]["coroutine"].get<std::string>());
    } else {
      words += finding["text"].get<std::string>();
    }
    if (failure_.explanation.find(words) == std::string::npos) {
      return fmt::format("BLAME: the text has no '{}'", words);
    }
    if (!finding.contains("culprit")) return {};
    const std::uint64_t step = finding["culprit"]["step"];
    if (step == 0 || step > failure_.step) return "BLAME: a culprit did it in no step of the run";
    const std::string place = text_or_empty(finding["culprit"], "at");
    const bool is_known = finding["object"].get<std::string>().find("channel") != 0;
    if (is_known && place.find("explanations.cpp:") == std::string::npos) {
      return fmt::format("BLAME: a culprit did it at '{}'", place);
    }
    return {};
  }

  /// All but the main coroutine where that goes on.
  [[nodiscard]] std::map<std::string, bool> waits_in(const Json& graph) const {
    std::map<std::string, bool> waits;
    for (const Json& each : graph["coroutines"]) {
      if (!is_quiet() && each.contains("main")) continue;
      if (each["state"] == "waiting") waits[each["name"]] = each.contains("sleeps");
    }
    return waits;
  }

  const Story& story_;
  const models::BlameModel& model_;
  const sim::Failure& failure_;
};

// --- stories ---

void play(const Story& story, sim::World& world) {
  std::shared_ptr<models::BlameModel> model;
  sim::Program program;
  program.body = [&](sim::World&) {
    model = std::make_shared<models::BlameModel>();
    Scene::play(std::make_shared<Scene>(model), story);
  };
  sim::WorldOptions options;
  options.step_limit = kStepLimit;
  options.faults = sim::FaultSet::parse("none");
  sim::Runner runner(program, "random", options, {.log_waits = true});
  const sim::RunResult result = inner_run(runner);
  if (!result.failure) {
    return world.fail(sim::Verdict::Safety, "BLAME: nobody is told that nobody can go on");
  }
  const models::Complaint complaint = Judge(story, *model, *result.failure).judge();
  if (!complaint.empty()) world.fail(sim::Verdict::Safety, complaint);
}

std::string to_text(const Story& story) {
  constexpr std::array kEnds = {"quiet", "watched", "left"};
  std::string text = fmt::format("{}:", kEnds[static_cast<std::size_t>(story.end)]);
  for (const Step& each : story.knots) {
    text += fmt::format(" {} {} of {},", kKnotNames[each.what], each.number, 1 + each.subject);
  }
  return text;
}

rc::Gen<Scenario> stories() {
  const Vocabulary knots{.weights = {{Knot::Ring, 6},
                                     {Knot::LockOfOneWhoLeft, 2},
                                     {Knot::PermitOfOneWhoLeft, 2},
                                     {Knot::Notified, 2},
                                     {Knot::Fired, 2},
                                     {Knot::EventOfNobody, 2},
                                     {Knot::PromiseDropped, 2},
                                     {Knot::PromiseKept, 1},
                                     {Knot::TimerClosed, 2},
                                     {Knot::ChannelLeft, 2},
                                     {Knot::BarrierShort, 2},
                                     {Knot::Bystander, 4}},
                         .subjects = 3,
                         .numbers = 8};
  const auto make = [](unsigned end, Steps chosen) {
    const auto story =
        std::make_shared<const Story>(Story{static_cast<End>(end), std::move(chosen)});
    const auto play_story = [story](sim::World& world) {
      play(*story, world);
      return Tally{};
    };
    return Scenario{play_story, [story] { return to_text(*story); }};
  };
  return rc::gen::apply(make, number_below(3), steps(5, knots));
}

}  // namespace explanations
}  // namespace

constinit const Law kExplanations = {
    "explanations",
    "of whoever can never go on is told why and whose doing it is, and nobody else is blamed",
    {},
    &explanations::stories};

}  // namespace fermata::properties
