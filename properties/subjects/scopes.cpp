// SPDX-License-Identifier: Apache-2.0

// A tree of four scopes whose members nap and fail, with actors that spawn into them, cancel them
// and wait for them from outside.

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/models/scope_model.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace scopes {

using std::chrono::milliseconds;

constexpr const char* kReason = "reason of the scope";
constexpr std::size_t kLast = 4;

class Scopes final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {20, "spawn", does<&Scopes::spawn_into>, true},
        {2, "cancel", does<&Scopes::cancel>, true},
        {1, "cancel hard", does<&Scopes::cancel_hard>, true},
        {1, "dispose safely", does<&Scopes::dispose_safely>, true},
        {2, "cancel a member", does<&Scopes::cancel_one, false>, true},
        {3, "cancel a member safely", does<&Scopes::cancel_one, true>, true},
        {5, "await completion", does<&Scopes::await_completion>},
        {3, "await after cancellation", does<&Scopes::await_after_cancellation>},
        {1, "drop the handle", does<&Scopes::drop_one>, true},
    });
  }

  explicit Scopes(Stage& on) : Subject(on) {
    constexpr std::array<std::size_t, 4> kParents = {models::ScopeModel::kNone, 0, 1, 0};
    for (std::size_t i = 0; i < kParents.size(); ++i) {
      const std::string name = "scope " + std::to_string(i);
      Scope scope = i == 0 ? Scope::detached(name) : Scope::inherit(name, *scopes_[kParents[i]]);
      const bool safe = stage.script().shape[i] % 2 == 1;
      scope.set_started_members(safe ? StartedMembers::LetRun : StartedMembers::Cancel);
      model_.add_scope(kParents[i], safe);
      scope.set_exception_handler([this, i](ScopeBase&, CoroutineBase&, const std::exception_ptr&) {
        ++handled_;
        react(i);
      });
      scope.finally([this, i](ScopeBase&) {
        stage.complain(model_.finally_ran(i));
        react(i);
      });
      handles_[i].emplace(std::move(scope));
      scopes_.push_back(Ref<ScopeBase>::share(**handles_[i]));
    }
  }

  void at_rest() override {
    for (std::size_t i = 0; i < scopes_.size(); ++i) {
      stage.complain(model_.at_rest(i, scopes_[i]->is_idle(), scopes_[i]->is_closed()));
    }
  }

  void let_go() override {
    model_.cancelled_hard(0);
    scopes_[0]->cancel({.started = StartedMembers::Cancel});
    for (std::size_t i = 0; i < scopes_.size(); ++i) drop(i);
    delay(milliseconds(100));
  }

  void at_end() override {
    stage.complain(model_.at_end());
    if (thrown_ != handled_) {
      stage.complain("CORE-SP-08: members threw " + std::to_string(thrown_) +
                     " errors, the handlers got " + std::to_string(handled_));
    }
  }

 private:
  /// Ends with the body, whether that ran or not.
  struct Membership {
    Membership(Scopes& of, std::size_t which) : scopes(of), member(which) {}
    Membership(const Membership&) = delete;
    Membership& operator=(const Membership&) = delete;
    ~Membership() { scopes.stage.complain(scopes.model_.ended(member, by_cancellation)); }
    Scopes& scopes;
    std::size_t member;
    bool by_cancellation = true;
  };

  static std::exception_ptr reason() { return std::make_exception_ptr(Cancellation(kReason)); }

  [[nodiscard]] std::size_t index_of(const Cue& cue) const { return cue.number % scopes_.size(); }

  /// Some handlers use scopes of the tree themselves.
  void react(std::size_t scope) {
    const std::uint8_t taste = stage.script().shape[scope];
    if (taste >= 6) stage.react({scope, static_cast<std::uint8_t>(taste + handled_), {}});
  }

  void cancel(const Cue& cue) {
    model_.cancelled(index_of(cue));
    scopes_[index_of(cue)]->cancel({.reason = reason()});
  }
  void cancel_hard(const Cue& cue) {
    model_.cancelled_hard(index_of(cue));
    scopes_[index_of(cue)]->cancel({.reason = reason(), .started = StartedMembers::Cancel});
  }
  void dispose_safely(const Cue& cue) {
    model_.cancelled_safely(index_of(cue));
    scopes_[index_of(cue)]->cancel({.started = StartedMembers::LetRun});
  }

  /// One of the last few, whatever has become of it.
  void cancel_one(const Cue& cue, bool safely) {
    if (members_.empty()) return;
    const std::size_t member = members_.size() - 1 - cue.number % std::min(members_.size(), kLast);
    model_.member_cancelled(member, safely);
    members_[member]->cancel(reason(), safely);
  }

  void spawn_into(const Cue& cue) {
    const std::size_t index = index_of(cue);
    const bool taken = model_.takes(index);
    const std::size_t member = taken ? model_.spawned(index) : 0;
    std::shared_ptr<Membership> membership;
    if (taken) membership = std::make_shared<Membership>(*this, member);
    try {
      auto one = fermata::spawn({.scope = scopes_[index].get()},
                                [this, membership = std::move(membership), number = cue.number] {
                                  live(*membership, number);
                                });
      if (taken) members_.push_back(std::move(one));
      if (!taken) stage.complain("CORE-SP-07: a scope that is cancelled takes a member");
    } catch (const UsageError&) {
      if (taken) stage.complain("CORE-SP-07: an open scope takes no member");
    }
  }

  void live(Membership& membership, std::uint8_t number) {
    stage.complain(model_.began(membership.member));
    suspend();
    if (number >= 4) delay(milliseconds(number));
    membership.by_cancellation = false;
    if (number != 7) return;
    ++thrown_;
    throw Error("of a member");
  }

  // How long scopes take to close is their own affair.
  [[nodiscard]] Due due_of_completion(std::size_t index) const {
    if (!model_.takes(index)) return Due::Now;
    if (!model_.completed(index).empty()) return Due::Later;
    return model_.all_take() ? Due::Kept : Due::Unknown;
  }
  [[nodiscard]] Due due_of_emptiness(std::size_t index) const {
    if (model_.takes(index)) return Due::Now;
    return model_.emptied(index).empty() ? Due::Unknown : Due::Later;
  }

  void await_completion(const Cue& cue) {
    const std::size_t index = index_of(cue);
    try {
      call(
          cue, due_of_completion(index),
          [&] { scopes_[index]->await_completion(cue.patience, SourcePlace::current()); },
          [](const Ending&) {});
    } catch (const Cancellation& cancellation) {
      if (is_the_scopes(cancellation)) return;
      throw;
    }
    stage.complain(model_.completed(index));
  }

  void await_after_cancellation(const Cue& cue) {
    const std::size_t index = index_of(cue);
    try {
      call(
          cue, due_of_emptiness(index),
          [&] {
            scopes_[index]->await_after_cancellation(nullptr, cue.patience, SourcePlace::current());
          },
          [](const Ending&) {});
    } catch (const UsageError&) {
      if (!model_.takes(index)) stage.complain("CORE-SP-03: a cancelled scope says that it is not");
      return;
    }
    stage.complain(model_.emptied(index));
  }

  void drop_one(const Cue& cue) { drop(index_of(cue)); }
  void drop(std::size_t index) {
    if (!handles_[index]) return;
    model_.cancelled(index);  // Whoever is inside; an empty one closes and takes no more either.
    ScopeBase& scope = *scopes_[index];
    const detail::Scheduler& scheduler = scope.runtime().scheduler();
    const bool joins =
        index != 0 && scheduler.can_suspend() && !scope.contains(scheduler.current_scope());
    {
      const Scope last = std::move(*handles_[index]);
      handles_[index].reset();
    }
    if (!joins) return;
    if (!scope.is_empty()) stage.complain("CORE-SP-03: a scope has members after its handle's end");
    if (scope.is_closed() && !model_.has_run_finally(index)) {
      stage.complain("CORE-SP-10: a finally handler runs after its scope's handle's end");
    }
  }

  static bool is_the_scopes(const Cancellation& cancellation) {
    const std::string_view what = cancellation.what();
    return what == kReason || what.find("cope ") != what.npos;
  }

  models::ScopeModel model_;
  std::array<std::optional<Scope>, 4> handles_;
  std::vector<Ref<ScopeBase>> scopes_;
  std::vector<Coroutine<>> members_;  // By their numbers in the model.
  std::size_t thrown_ = 0;
  std::size_t handled_ = 0;
};

}  // namespace scopes
}  // namespace

constinit const Law kScopes = {
    "scopes",
    "In a tree of scopes nobody begins in a cancelled one, a hard cancellation "
    "misses nobody and a safe one nobody who has begun, an await ends when its "
    "scope is complete, and scopes end from the bottom up.",
    {"G-08", "CORE-SP-01", "CORE-SP-03", "CORE-SP-04", "CORE-SP-05", "CORE-SP-07", "CORE-SP-08",
     "CORE-SP-10", "CORE-SP-11", "CORE-SP-13", "CORE-SP-14", "CORE-GL-10"},
    &scripts_over<scopes::Scopes>};

}  // namespace fermata::properties
