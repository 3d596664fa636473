// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/nemesis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/world/world_state.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::uint64_t kNemesisKey = key_of("nemesis");
constexpr std::uint64_t kMomentsKey = key_of(kNemesisKey, "moments");
constexpr std::uint64_t kWaitsKey = key_of(kNemesisKey, "waits");
constexpr double kMostStrikes = 1000;
// How many times as many strikes as on average a run has; their mean is 1.
constexpr std::array<double, 4> kLevels = {0, 0.5, 1, 2.5};
constexpr std::uint32_t kOddsOf = 1 << 20;
constexpr unsigned kMarkDoublings = 3;  // A mark counts eight times the first time, then less.
constexpr Duration kLeastAge = std::chrono::milliseconds(1);
constexpr int kPartsOfAge = 512;
constexpr std::uint64_t kSpans = 11;    // Each twice the one before: up to twice the age.
constexpr std::uint64_t kCutSpans = 3;  // The last ones of these: short partitions do little.
constexpr Odds kLate = {1, 4};          // Of strikes at waits: some time after its beginning.

/// What a partition separates from what: a machine or a group from all other machines, or from
/// those that the nemesis strikes; one direction; or two machines.
enum class Shape : std::uint8_t { Alone, AloneOfMachines, Out, In, Pair, Group, GroupOfMachines };
/// Machines that others reach, but not each other, are what consensus has most to do with.
constexpr std::array kShapes = {Shape::Alone,
                                Shape::AloneOfMachines,
                                Shape::AloneOfMachines,
                                Shape::AloneOfMachines,
                                Shape::AloneOfMachines,
                                Shape::Group,
                                Shape::GroupOfMachines,
                                Shape::Pair,
                                Shape::Out,
                                Shape::In};

void check_number(const char* name, double number) {
  if (number >= 0 && number <= kMostStrikes) return;
  throw UsageError(
      fmt::format("nemesis: {} is {}, expected from 0 to {}", name, number, kMostStrikes));
}

void check(const NemesisOptions& options, std::size_t machines) {
  check_number("crashes", options.crashes);
  check_number("partitions", options.partitions);
  check_number("pauses", options.pauses);
  if (machines == 0) throw UsageError("nemesis: there is no machine, expected one to strike");
  if (options.quorum > machines) {
    throw UsageError(fmt::format("nemesis: quorum is {}, expected at most {}, as many machines",
                                 options.quorum, machines));
  }
  if (options.until && *options.until < Duration::zero()) {
    throw UsageError(
        fmt::format("nemesis: until is {} ns, expected zero or more", options.until->count()));
  }
}

const char* verb_of(Fault kind) {
  switch (kind) {
    case Fault::Crash:
      return "crash";
    case Fault::Partition:
      return "be cut off";
    default:
      return "be paused";
  }
}

/// ", just after the sync of 'state'"; of a wait nothing.
std::string text_of(Occasion occasion, std::string_view subject) {
  switch (occasion) {
    case Occasion::Wait:
      break;
    case Occasion::Sync:
      return fmt::format(", just after the sync of '{}'", subject);
    case Occasion::DirectorySync:
      return fmt::format(", just after the sync of directory '{}'",
                         subject.empty() ? "/" : subject);
    case Occasion::Rename:
      return fmt::format(", just after the rename to '{}'", subject);
    case Occasion::Send:
      return fmt::format(", just after it sends to '{}'", subject);
    case Occasion::Mark:
      return fmt::format(", just after \"{}\"", subject);
  }
  return {};
}

}  // namespace

/// `victim`, or a group with it, and from whom it is cut off.
struct Nemesis::Cut {
  enum class Way : std::uint8_t { Both, Out, In };

  std::vector<Victim*> inside;  // These count as not available.
  std::vector<NodeState*> outside;
  Way way = Way::Both;
  bool is_whole = false;  // `outside` is all other machines.
  Duration span{};

  /// "'one' is cut off from 'two'".
  [[nodiscard]] std::string text() const;
};

std::string Nemesis::Cut::text() const {
  std::string who;
  for (const Victim* each : inside)
    who += fmt::format("{}'{}'", who.empty() ? "" : ", ", each->name());
  std::string from;
  for (const NodeState* each : outside) {
    from += fmt::format("{}'{}'", from.empty() ? "" : ", ", each->name());
  }
  const std::string whom = is_whole ? "all other machines" : from;
  switch (way) {
    case Way::Out:
      return fmt::format("nothing gets through from {} to {}", who, whom);
    case Way::In:
      return fmt::format("nothing gets through from {} to {}", whom, who);
    case Way::Both:
      break;
  }
  return fmt::format("{} {} cut off from {}", who, inside.size() == 1 ? "is" : "are", whom);
}

// --- before ---

Nemesis::Nemesis(WorldState& world, const NemesisOptions& options)
    : world_(world), quorum_(options.quorum), targets_(world.decisions()), begun_(world.now()) {
  choose(options.machines);
  check(options, victims_.size());
  if (quorum_ > 0) world_.faults().leave_to_plan(Fault::Partition);
  plan(Fault::Crash, options.crashes);
  plan(Fault::Partition, options.partitions);
  plan(Fault::Pause, options.pauses);
  for (Victim& victim : victims_) victim.node_.tell_of_occasions(&victim);
  if (options.until) world_.later(*options.until, [this] { end_all(); });
}

Nemesis::~Nemesis() {
  for (Victim& victim : victims_) victim.node_.tell_of_occasions(nullptr);
}

void Nemesis::choose(const std::vector<std::string>& machines) {
  if (machines.empty()) {
    const NodeState* const caller = world_.running_node();
    for (NodeState* node : world_.nodes()) {
      if (caller == nullptr || &caller->machine() != node) victims_.emplace_back(*this, *node);
    }
  }
  for (const std::string& name : machines) {
    NodeState* const node = world_.find_node(name);
    if (node == nullptr) throw UsageError(fmt::format("nemesis: there is no machine '{}'", name));
    const bool known = std::any_of(victims_.begin(), victims_.end(),
                                   [&](const Victim& each) { return &each.node_ == node; });
    if (known) throw UsageError(fmt::format("nemesis: machine '{}' is named twice", name));
    victims_.emplace_back(*this, *node);
  }
}

void Nemesis::plan(Fault kind, double strikes) {
  if (strikes == 0 || !world_.faults().allows(kind)) return;
  FERMATA_ASSERT(!victims_.empty());
  if (kind == Fault::Partition && world_.nodes().size() < 2) return;
  targets_.allow(kind, static_cast<unsigned>(std::ceil(kLevels.back() * strikes)));
  const std::uint64_t key = key_of(kNemesisKey, to_string(kind));
  const auto level =
      world_.decisions().draw(backend::RandomStream::Fault, key, kLevels.size(), unsaid);
  if (level == 0) return;
  const auto machines = static_cast<double>(victims_.size());
  const auto each = static_cast<std::uint64_t>(std::ceil(kLevels.back() * strikes / machines / 2));
  FERMATA_ASSERT(each > 0);
  const double odds = kLevels[level] * strikes / (2 * machines * static_cast<double>(each));
  FERMATA_ASSERT(odds <= 1);
  const Odds of_each{static_cast<std::uint32_t>(odds * kOddsOf), kOddsOf};
  for (Victim& victim : victims_) {
    const std::uint64_t whom = key_of(key, victim.node_.key());
    for (std::uint64_t i = 0; i < each; ++i) {
      plan(victim, victim.moments_, kMomentsKey, {.kind = kind, .key = key_of(whom, 2 * i)},
           of_each);
      plan(victim, victim.waits_, kWaitsKey, {.kind = kind, .key = key_of(whom, 2 * i + 1)},
           of_each);
    }
  }
}

void Nemesis::plan(Victim& victim, Course& course, std::uint64_t subject, const Strike& strike,
                   Odds odds) {
  const auto tell = [&](const Decision& decision) {
    return fmt::format("'{}' would {} at its {} {}", victim.name(), verb_of(strike.kind),
                       ordinal(decision.value), subject == kWaitsKey ? "wait" : "moment");
  };
  Strike planned = strike;
  planned.place =
      world_.decisions().draw_place(backend::RandomStream::Fault, strike.key, subject, odds, tell);
  FERMATA_ASSERT(planned.place < Decisions::kPlaces);
  if (planned.place == 0) return;
  planned.told = world_.decisions().last_told();
  const auto after =
      std::upper_bound(course.strikes.begin(), course.strikes.end(), planned.place,
                       [](std::uint64_t place, const Strike& each) { return place < each.place; });
  course.strikes.insert(after, planned);
}

// --- on the way ---

void Nemesis::Victim::came(Occasion occasion, std::string_view subject) {
  if (nemesis_.ended_ || nemesis_.world_.over()) return;
  if (occasion == Occasion::Mark) nemesis_.come_to(*this, subject);
  if (occasion == Occasion::Wait) {
    nemesis_.go_on(*this, waits_, 1, occasion, subject);
  } else if (const unsigned by = weight(occasion, subject); by > 0) {
    nemesis_.go_on(*this, moments_, by, occasion, subject);
  }
}

unsigned Nemesis::Victim::weight(Occasion occasion, std::string_view subject) {
  switch (occasion) {
    case Occasion::Mark: {
      auto mark = marks_.find(subject);
      if (mark == marks_.end()) mark = marks_.emplace(subject, 0).first;
      return 1u << (kMarkDoublings - std::min(mark->second++, kMarkDoublings));
    }
    case Occasion::Send:
      return !syncs_ || std::exchange(has_news_, false) ? 1 : 0;
    case Occasion::Sync:
    case Occasion::DirectorySync:
      syncs_ = has_news_ = true;
      return 1;
    case Occasion::Rename:
      return 1;
    case Occasion::Wait:
      break;
  }
  return 0;
}

void Nemesis::go_on(Victim& victim, Course& course, unsigned by, Occasion occasion,
                    std::string_view subject) {
  FERMATA_ASSERT(by > 0);
  FERMATA_ASSERT(course.next <= course.strikes.size());
  course.come += by;
  while (course.next < course.strikes.size() && course.strikes[course.next].place <= course.come) {
    const Strike& due = course.strikes[course.next++];
    if (!targets_.taken()) strike_soon(victim, due, occasion, subject);
  }
}

void Nemesis::come_to(Victim& victim, std::string_view mark) {
  const auto found = targets_.came(victim.node_.key(), mark, age());
  if (!found) return;
  const Strike strike{.kind = found->kind, .told = found->told, .way = found->way};
  strike_soon(victim, strike, Occasion::Mark, mark);
}

void Nemesis::strike_soon(Victim& victim, const Strike& strike, Occasion occasion,
                          std::string_view subject) {
  Duration delay{};
  if (occasion != Occasion::Wait) victim.node_.set_struck(true);
  if (!victim.node_.is_struck()) {
    const auto tell_late = [&](const Decision& decision) {
      return fmt::format("that '{}' is to {} comes {} after its wait begins", victim.name(),
                         verb_of(strike.kind), amount(span_of(strike, decision.value)));
    };
    const std::uint64_t late = world_.decisions().draw_rarely(
        backend::RandomStream::Fault, key_of(strike.key, "late"), kSpans, kLate, tell_late);
    if (late != 0) delay = span_of(strike, late);
  }
  const bool is_told = world_.decisions().names().wanted();
  std::string when = is_told ? text_of(occasion, subject) : std::string();
  world_.later(delay, [this, &victim, strike, when = std::move(when)] {
    victim.node_.set_struck(false);
    this->strike(victim, strike, when);
  });
}

// --- what strikes ---

template <Teller Tell>
std::uint64_t Nemesis::way_of(const Strike& strike, std::uint64_t bound, const Tell& teller) {
  FERMATA_ASSERT(bound > 0);
  if (strike.way) return strike.way->number % bound;
  return world_.decisions().draw(backend::RandomStream::Fault, key_of(strike.key, "way"), bound,
                                 teller);
}

void Nemesis::strike(Victim& victim, const Strike& strike, const std::string& when) {
  const bool is_up = victim.node_.phase() != NodeState::Phase::Ended;
  if (ended_ || world_.over() || !is_up || !world_.faults().allows(strike.kind)) return;
  if (strike.way) {
    if (struck_ != nullptr && struck_ != &victim) recover(*struck_);
    struck_ = &victim;
  }
  switch (strike.kind) {
    case Fault::Crash:
      return crash(victim, strike, when);
    case Fault::Partition:
      return cut_off(victim, strike, when);
    default:
      return pause(victim, strike, when);
  }
}

void Nemesis::crash(Victim& victim, const Strike& strike, const std::string& when) {
  if (!can_spare({&victim})) return;
  NodeState& node = victim.node_;
  world_.faults().struck_as_planned(Fault::Crash);
  world_.decisions().tell_later(strike.told, [&] {
    const std::string point = node.disk().crash_point_text();
    const bool is_news = !point.empty() && (when.empty() || point.starts_with("after the write"));
    return world_.crash_text(node) + when + (is_news ? ", " + point : "");
  });
  const std::uint64_t life = node.life();
  world_.crash_now(node);
  FERMATA_ASSERT(node.is_down());
  FERMATA_ASSERT(node.life() == life);
  victim.crashed_life_ = life;
  victim.paused_until_ = {};
  all_down_ = is_any_up() ? std::nullopt : std::optional(world_.now());
  const auto tell = [&](const Decision& decision) {
    return fmt::format("'{}' comes up again {} after its crash", victim.name(),
                       amount(span_of(strike, decision.value)));
  };
  world_.later(span_of(strike, way_of(strike, kSpans, tell)), [this, &victim, life] {
    if (victim.node_.life() == life) bring_up(victim);
  });
}

void Nemesis::pause(Victim& victim, const Strike& strike, const std::string& when) {
  if (!can_spare({&victim}) || victim.node_.is_paused()) return;
  const Duration span = span_of(strike, way_of(strike, kSpans, unsaid));
  world_.faults().struck_as_planned(Fault::Pause);
  world_.decisions().tell_later(strike.told, [&] {
    return fmt::format("'{}' gets no processor time at {} for {}{}", victim.name(),
                       moment(world_.now()), amount(span), when);
  });
  FERMATA_ASSERT(span > Duration::zero());
  victim.paused_until_ = world_.now() + span;
  victim.node_.pause_for(span);
  FERMATA_ASSERT(!is_available(victim));
}

// --- partitions ---

void Nemesis::cut_off(Victim& victim, const Strike& strike, const std::string& when) {
  if (!can_spare({&victim})) return;
  const Cut cut = cut_of(victim, strike);
  world_.faults().struck_as_planned(Fault::Partition);
  world_.decisions().tell_later(strike.told, [&] {
    return fmt::format("{} at {} for {}{}", cut.text(), moment(world_.now()), amount(cut.span),
                       when);
  });
  apply(cut);
}

Nemesis::Cut Nemesis::cut_of(Victim& victim, const Strike& strike) {
  const std::uint64_t others = std::max<std::size_t>(victims_.size(), 2) - 1;
  const std::uint64_t drawn = way_of(strike, kCutSpans * kShapes.size() * others, unsaid);
  Cut cut{.inside = {&victim},
          .outside = {},
          .span = span_of(strike, kSpans - kCutSpans + drawn % kCutSpans)};
  const Shape shape = kShapes[drawn / kCutSpans % kShapes.size()];
  const std::uint64_t number = drawn / kCutSpans / kShapes.size();
  const auto first =
      static_cast<std::size_t>(std::find_if(victims_.begin(), victims_.end(),
                                            [&](const Victim& each) { return &each == &victim; }) -
                               victims_.begin());
  const auto other = [&](std::size_t after) -> Victim& {
    return victims_[(first + after) % victims_.size()];
  };
  const bool is_group = shape == Shape::Group || shape == Shape::GroupOfMachines;
  for (std::size_t i = 1; is_group && i < victims_.size() && i <= number + 1; ++i) {
    cut.inside.push_back(&other(i));
    if (!can_spare(cut.inside)) {
      cut.inside.pop_back();
      break;
    }
  }
  if (shape == Shape::Out) cut.way = Cut::Way::Out;
  if (shape == Shape::In) cut.way = Cut::Way::In;
  FERMATA_ASSERT(cut.inside.size() <= victims_.size());
  const bool is_narrow = shape == Shape::AloneOfMachines || shape == Shape::GroupOfMachines;
  cut.is_whole = !(is_narrow && cut.inside.size() < victims_.size());
  if (shape == Shape::Pair && victims_.size() > 1) {
    cut.is_whole = false;
    cut.outside.push_back(&other(number + 1).node_);
    return cut;
  }
  const auto is_inside = [&](const NodeState* node) {
    return std::any_of(cut.inside.begin(), cut.inside.end(),
                       [&](const Victim* each) { return &each->node_ == node; });
  };
  if (cut.is_whole) {
    std::copy_if(world_.nodes().begin(), world_.nodes().end(), std::back_inserter(cut.outside),
                 [&](const NodeState* node) { return !is_inside(node); });
  } else {
    for (Victim& each : victims_) {
      if (!is_inside(&each.node_)) cut.outside.push_back(&each.node_);
    }
  }
  return cut;
}

void Nemesis::apply(const Cut& cut) {
  FERMATA_ASSERT(!cut.inside.empty());
  FERMATA_ASSERT(cut.span > Duration::zero());
  LinkTable& links = world_.network().links();
  std::erase_if(partitions_, [&](const Going& each) { return each.until <= world_.now(); });
  partitions_.push_back({.inside = cut.inside, .closed = {}, .until = world_.now() + cut.span});
  Going& going = partitions_.back();
  const auto lose = [&](NodeState& from, NodeState& to) {
    LinkState& link = links.between(from, to);
    link.lose(cut.span);
    going.closed.push_back(&link);
  };
  for (Victim* each : cut.inside) {
    for (NodeState* other : cut.outside) {
      if (cut.way != Cut::Way::In) lose(each->node_, *other);
      if (cut.way != Cut::Way::Out) lose(*other, each->node_);
    }
  }
}

// --- how much ---

Duration Nemesis::age() const {
  return std::max<Duration>(world_.now() - begun_ - idle_, kLeastAge);
}

Duration Nemesis::span_of(const Strike& strike, std::uint64_t drawn) const {
  FERMATA_ASSERT(drawn < kSpans);
  const Duration age = strike.way ? strike.way->age : this->age();
  return age / kPartsOfAge * (std::int64_t{1} << drawn);
}

bool Nemesis::is_any_up() const noexcept {
  return std::any_of(victims_.begin(), victims_.end(), [](const Victim& each) {
    return !each.node_.is_down() && each.node_.phase() != NodeState::Phase::Ended;
  });
}

bool Nemesis::is_available(const Victim& victim) const noexcept {
  const NodeState& node = victim.node_;
  const auto cuts_off = [&](const Going& each) {
    return each.until > world_.now() &&
           std::find(each.inside.begin(), each.inside.end(), &victim) != each.inside.end();
  };
  return node.phase() != NodeState::Phase::Ended && !node.is_paused() &&
         std::none_of(partitions_.begin(), partitions_.end(), cuts_off);
}

bool Nemesis::can_spare(const std::vector<Victim*>& victims) const {
  std::size_t left = 0;
  for (const Victim& each : victims_) {
    const bool goes = std::find(victims.begin(), victims.end(), &each) != victims.end();
    if (!goes && is_available(each)) ++left;
  }
  const bool is_new = std::any_of(victims.begin(), victims.end(),
                                  [&](const Victim* each) { return is_available(*each); });
  return !is_new || left >= quorum_;
}

// --- the end ---

void Nemesis::recover(Victim& victim) {
  bring_up(victim);
  if (world_.now() < std::exchange(victim.paused_until_, {})) victim.node_.unpause();
  std::erase_if(partitions_, [&](const Going& each) {
    if (each.inside.front() != &victim) return false;
    for (LinkState* link : each.closed) link->regain();
    return true;
  });
}

void Nemesis::bring_up(Victim& victim) {
  NodeState& node = victim.node_;
  if (!node.is_down() || node.life() != victim.crashed_life_) return;
  if (all_down_) idle_ += world_.now() - *all_down_;
  all_down_.reset();
  node.come_up();
  FERMATA_ASSERT(!node.is_down());
}

void Nemesis::ends() {
  if (std::exchange(ended_, true)) return;
  if (world_.over()) return;
  std::uint64_t moments = 0;
  std::uint64_t waits = 0;
  for (Victim& victim : victims_) {
    moments = std::max(moments, victim.moments_.come);
    waits = std::max(waits, victim.waits_.come);
  }
  partitions_.clear();
  world_.decisions().came({kMomentsKey, moments});
  world_.decisions().came({kWaitsKey, waits});
}

void Nemesis::end_all() {
  world_.heal();
  FERMATA_ASSERT(ended_);
  for (Victim& victim : victims_) recover(victim);
}

}  // namespace fermata::sim::detail
