// SPDX-License-Identifier: Apache-2.0

// Scopes whose strategies send what is spawned elsewhere, refuse it, cancel it and give it
// priorities, and change the priorities of what runs.

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace spawns {

using std::chrono::milliseconds;

enum class Deed : std::uint8_t {
  Nothing,
  NothingEither,
  SendsElsewhere,
  RefusesToSend,
  Refuses,
  Hurries,
  Cancels,
  ClosesTheScope,
};
constexpr std::size_t kDeeds = 8;

/// What is known of one that was to be spawned; lives as long as its body.
struct Membership {
  bool doomed = false;  // Cancelled before it could begin.
};

/// One call of spawn.
struct Attempt {
  Ref<ScopeBase> asked;
  Deed deed = Deed::Nothing;
  bool goes_on = false;  // Its strategy uses other scopes in its turn.
  std::weak_ptr<Membership> membership;
  const CoroutineBase* coroutine = nullptr;
  Ref<ScopeBase> given;  // By its strategy.
  bool was_given_open = false;
  int asked_for_a_scope = 0;
  int told_before = 0;
  int told_after = 0;
};

class Spawns final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {16, "spawn", does<&Spawns::spawn_into>, true},
        {4, "set a priority", does<&Spawns::set_priority>, true},
        {3, "change the strategy", does<&Spawns::change_strategy>, true},
        {2, "cancel", does<&Spawns::cancel>, true},
        {2, "renew", does<&Spawns::renew>, true},
    });
  }

  explicit Spawns(Stage& on) : Subject(on) {
    for (std::size_t i = 0; i < kScopes; ++i) {
      scopes_.push_back(Scope::detached("scope"));
      if (stage.script().shape[i] % 4 != 0) set_strategy(i);
    }
  }

  void let_go() override {
    is_ending = true;
    for (const Scope& scope : scopes_) scope.cancel();
  }

  void at_end() override {
    for (const Coroutine<>& each : members_) {
      if (!each->is_closed()) stage.complain("SHUT: " + each->info() + " outlives its scope");
    }
  }

 private:
  static constexpr std::size_t kScopes = 3;

  class Strategy final : public backend::SpawnStrategy {
   public:
    explicit Strategy(Spawns& spawns) : spawns_(spawns) {}

   private:
    ScopeBase& provide_scope(CoroutineBase& coroutine, ScopeBase& asked) override {
      return spawns_.provide_scope(coroutine, asked);
    }
    void before_spawn(CoroutineBase& coroutine, ScopeBase& scope) override {
      spawns_.before_spawn(coroutine, scope);
    }
    void after_spawn(CoroutineBase& coroutine, ScopeBase& scope) override {
      spawns_.after_spawn(coroutine, scope);
    }

    Spawns& spawns_;
  };

  [[nodiscard]] static detail::Scheduler& scheduler() { return current_runtime().scheduler(); }
  [[nodiscard]] const Scope& scope_of(const Cue& cue) const {
    return scopes_[cue.number % scopes_.size()];
  }

  void set_strategy(std::size_t index) {
    scopes_[index].set_spawn_strategy(std::make_shared<Strategy>(*this));
    has_strategy_[index] = true;
  }
  void change_strategy(const Cue& cue) {
    const std::size_t index = cue.number % kScopes;
    if (cue.number % 2 == 0) return set_strategy(index);
    scopes_[index].set_spawn_strategy(nullptr);
    has_strategy_[index] = false;
  }
  void cancel(const Cue& cue) { scope_of(cue).cancel(); }
  void renew(const Cue& cue) {
    const std::size_t index = cue.number % kScopes;
    if (scopes_[index]->is_open()) return;
    scopes_[index] = Scope::detached("another scope");
    has_strategy_[index] = false;
  }

  // --- spawns ---

  void spawn_into(const Cue& cue) {
    const std::size_t index = cue.number % kScopes;
    auto membership = std::make_shared<Membership>();
    Attempt attempt;
    attempt.asked = Ref<ScopeBase>::share(*scopes_[index]);
    attempt.deed = static_cast<Deed>((cue.number + cue.actor) % kDeeds);
    attempt.goes_on = cue.number >= 12 && attempt_ == nullptr;
    attempt.membership = membership;
    const bool is_asked_open = attempt.asked->is_open();
    const bool is_told = is_asked_open && has_strategy_[index];
    const std::size_t unknown = unknown_coroutines();
    Attempt* const outer = std::exchange(attempt_, &attempt);
    std::exception_ptr error;
    try {
      members_.push_back(
          fermata::spawn({.name = "member", .place = {}, .scope = attempt.asked.get()},
                         [this, membership = std::move(membership)] { live(*membership); }));
    } catch (...) {
      error = std::current_exception();
    }
    attempt_ = outer;
    stage.complain(judge(attempt, is_told, is_asked_open, error));
    if (unknown_coroutines() != unknown) {
      stage.complain("CORE-CO-15 (REF): a spawn leaves more than its coroutine, or less");
    }
  }

  void live(Membership& membership) {
    if (membership.doomed) stage.complain("CORE-CO-05: what was cancelled before it began begins");
    suspend();
    delay(milliseconds(3));
  }

  [[nodiscard]] static models::Complaint judge(const Attempt& attempt, bool is_told,
                                               bool is_asked_open,
                                               const std::exception_ptr& error) {
    const bool refuses = attempt.deed == Deed::RefusesToSend || attempt.deed == Deed::Refuses;
    const bool provides = is_told && attempt.deed != Deed::RefusesToSend;
    const bool is_given_open = provides ? attempt.was_given_open : is_asked_open && !is_told;
    const bool taken =
        is_given_open && !(is_told && (refuses || attempt.deed == Deed::ClosesTheScope));
    if (attempt.asked_for_a_scope != static_cast<int>(is_told)) {
      return "SPAWN (ONCE): a strategy is asked for a scope " +
             std::to_string(attempt.asked_for_a_scope) + " times";
    }
    if (attempt.told_before != static_cast<int>(provides && is_given_open)) {
      return "SPAWN (ONCE): a strategy is told " + std::to_string(attempt.told_before) +
             " times before a spawn";
    }
    if (attempt.told_after != static_cast<int>(is_told && taken)) {
      return "SPAWN (ONCE): a strategy is told " + std::to_string(attempt.told_after) +
             " times after a spawn";
    }
    if (taken != (error == nullptr)) return "SPAWN (ERR): a spawn is refused, or it is not";
    if (taken) return {};
    if (!attempt.membership.expired()) return "SPAWN (REF): a body that was refused is left";
    const bool by_strategy = is_told && (refuses && (is_given_open || !provides));
    return is_planned(error) == by_strategy ? "" : "SPAWN (ERR): another error than that of it";
  }
  [[nodiscard]] static bool is_planned(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const PlannedError&) {
      return true;
    } catch (const UsageError&) {
      return false;
    }
  }

  // --- what the strategies do ---

  ScopeBase& provide_scope(const CoroutineBase& coroutine, ScopeBase& asked) {
    Attempt& attempt = *attempt_;
    attempt.coroutine = &coroutine;
    if (&asked != attempt.asked.get() || attempt.told_before > 0) {
      stage.complain("SPAWN: a strategy is asked for a scope at the wrong time");
    }
    ++attempt.asked_for_a_scope;
    if (attempt.deed == Deed::RefusesToSend) throw PlannedError(1);
    attempt.given = attempt.asked;
    if (attempt.deed == Deed::SendsElsewhere) {
      const std::size_t next =
          scopes_.size() - 1 - static_cast<std::size_t>(coroutine.serial() % 2);
      attempt.given = Ref<ScopeBase>::share(*scopes_[next]);
    }
    attempt.was_given_open = attempt.given->is_open();
    return *attempt.given;
  }

  void before_spawn(CoroutineBase& coroutine, ScopeBase& scope) {
    Attempt& attempt = *attempt_;
    if (&coroutine != attempt.coroutine || &scope != attempt.given.get() || coroutine.id() != 0) {
      stage.complain("SPAWN: a strategy is told of another spawn, or too late");
    }
    ++attempt.told_before;
    switch (attempt.deed) {
      case Deed::Refuses:
        throw PlannedError(2);
      case Deed::Hurries:
        return coroutine.set_priority(Priority::High);
      case Deed::Cancels:
        attempt.membership.lock()->doomed = true;
        return coroutine.cancel();
      case Deed::ClosesTheScope:
        return scope.cancel();
      default:
        return;
    }
  }

  void after_spawn(const CoroutineBase& coroutine, const ScopeBase& scope) {
    Attempt& attempt = *attempt_;
    ++attempt.told_after;
    if (&coroutine != attempt.coroutine || &scope != attempt.given.get()) {
      stage.complain("SPAWN: a strategy is told of another spawn");
    }
    if (&coroutine.scope() != &scope || !coroutine.is_queued()) {
      stage.complain("SPAWN: after a spawn the coroutine is elsewhere than in its scope, in line");
    }
    const auto& line = scheduler().ready();
    const bool hurries = coroutine.priority() == Priority::High;
    if (hurries != (attempt.deed == Deed::Hurries) ||
        &line[hurries ? 0 : line.size() - 1] != &coroutine) {
      stage.complain("CORE-SC-03: a coroutine is put in line elsewhere than its priority says");
    }
    if (attempt.goes_on) stage.react({0, static_cast<std::uint8_t>(coroutine.id() % 16), {}});
  }

  // --- priorities ---

  void set_priority(const Cue& cue) {
    if (members_.empty()) return;
    const std::size_t last = members_.size() - 1;
    CoroutineBase& member = *members_[last - std::min<std::size_t>(last, cue.number / 2)];
    const Priority priority = cue.number % 2 == 0 ? Priority::High : Priority::Normal;
    const bool is_raised = priority == Priority::High && member.priority() == Priority::Normal;
    std::vector<const CoroutineBase*> expected = line();
    const auto place = std::find(expected.begin(), expected.end(), &member);
    if (is_raised && place != expected.end()) std::rotate(expected.begin(), place, place + 1);
    member.set_priority(priority);
    if (line() != expected) stage.complain("CORE-SC-03: a change of a priority disorders the line");
    if (!member.is_closed() && member.priority() != priority) {
      stage.complain("CORE-SC-03: a coroutine does not get its priority");
    }
  }
  [[nodiscard]] static std::vector<const CoroutineBase*> line() {
    std::vector<const CoroutineBase*> all;
    const auto& ready = scheduler().ready();
    for (std::size_t i = 0; i < ready.size(); ++i) all.push_back(&ready[i]);
    return all;
  }

  /// How many coroutines there are besides the members.
  [[nodiscard]] std::size_t unknown_coroutines() const {
    std::size_t ours = 0;
    for (const Coroutine<>& each : members_) ours += each->is_closed() ? 0 : 1;
    return scheduler().registry().size() - ours;
  }

  std::vector<Scope> scopes_;
  std::array<bool, kScopes> has_strategy_{};
  std::vector<Coroutine<>> members_;
  Attempt* attempt_ = nullptr;  // The innermost.
};

}  // namespace spawns
}  // namespace

constinit const Law kSpawns = {
    "spawns",
    "a strategy is told once before a spawn and once after it, its scope is the one that is used, "
    "what it refuses leaves nothing, and priorities disorder nothing",
    {"CORE-CO-15", "CORE-SC-03"},
    &scripts_over<spawns::Spawns>};

}  // namespace fermata::properties
