// SPDX-License-Identifier: Apache-2.0
#pragma once

// A scope: the owner of coroutines and of smaller scopes. Every coroutine is a member of exactly
// one from its spawn to its end; without scopes of its own a program lives in the root scope.
//
// Life cycle   open -> (cancelled ->) disposing -> closed -> gone. A cancelled scope takes nothing
//              new and is disposed when it is empty; one that is not cancelled, when it is empty
//              and its handle has gone. Children come before their parent (CORE-SP-11).
// Completion   "Idle" is without active members in the whole subtree, "empty" without any member.
//              A zombie is a member that a safe cancellation lets run on: not active, still there.
// Safety       A safe scope turns the started members of a cancellation into zombies; one that is
//              not safe cancels them. The scope that is cancelled decides for its whole subtree.
// Handle       `Scope`. Its end cancels the scope.
// As an event  It fires when it becomes idle, empty or closed, and fails when it is cancelled or
//              when a member fails. Closed, it replays that it has finished, and nothing else.
// Errors       What nobody awaited asks the handlers on the way up; where there is none the scope
//              is cancelled (CORE-SP-08, SP-09). The root scope is not: there the error is the
//              runtime's, which shuts down, or that of whoever holds a handle to the coroutine.
// Ownership    The runtime's until it is gone; `Scope` and references hold it beyond that.
// Suspension   Only the two awaits.
// Source       CORE-SP-01 to 16.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/name.hpp"
#include "fermata/base/source_place.hpp"
#include "fermata/base/time.hpp"
#include "fermata/core/coroutine.hpp"
#include "fermata/core/event.hpp"
#include "fermata/core/spawn_strategy.hpp"

namespace fermata {

class Context;
class ScopeBase;
class Timer;
struct WaitOptions;

/// What the cancellation of a scope does to members that have started. Others never run.
enum class StartedMembers : std::uint8_t {
  /// They are cancelled too.
  Cancel,
  /// They run on to their natural end, as zombies: the scope is safe.
  LetRun,
};

/// How a scope is cancelled.
struct ScopeCancelOptions {
  /// What the members get; must hold a Cancellation. Null: "Scope was cancelled".
  std::exception_ptr reason = nullptr;
  /// Absent: as the scope is set. `Cancel` also reaches zombies, and the members of safe scopes
  /// inside; `LetRun` spares those that have started everywhere inside.
  std::optional<StartedMembers> started = std::nullopt;
  /// How long to wait before. Until then the scope stays open.
  Duration after = Duration::zero();
};

namespace detail {
class ScopeForest;
struct ScopeContext;
}  // namespace detail

/// A handler of errors. It gets the scope where `failed` was a member, or the child scope from
/// which the error came up. Returning handles the error; throwing replaces it. Must not suspend;
/// may spawn and cancel.
using ScopeErrorHandler =
    std::function<void(ScopeBase& scope, CoroutineBase& failed, const std::exception_ptr& error)>;

/// Runs once when its scope has closed, in a coroutine of its own; may suspend.
using ScopeFinallyHandler = std::function<void(ScopeBase& scope)>;

/// A handler of errors that members throw while `await_after_cancellation` waits; may suspend.
using CleanupErrorHandler = std::function<void(const std::exception_ptr& error, ScopeBase& scope)>;

class ScopeBase final : public Event {
 public:
  /// The id of the scope; never reused while the runtime lives.
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] std::string_view name() const noexcept { return name_.view(); }
  [[nodiscard]] const SourcePlace& created_at() const noexcept { return place_; }
  /// "Scope #3 created at file:line", or "Scope #3 'name' created at file:line".
  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;

  // --- the tree ---

  /// The parent; null for the root, for a detached scope and for one that is gone.
  [[nodiscard]] ScopeBase* parent() const noexcept { return parent_; }
  [[nodiscard]] bool is_root() const noexcept { return root_; }
  /// Whether `other` is this scope or inside of it, at any depth.
  [[nodiscard]] bool contains(const ScopeBase& other) const noexcept;
  /// The child scopes, in order of creation. Valid until one of them is gone.
  [[nodiscard]] std::vector<ScopeBase*> child_scopes() const;

  // --- what is in it ---

  [[nodiscard]] std::size_t member_count() const noexcept { return members_.size(); }
  /// Members that are not zombies (CORE-SP-01).
  [[nodiscard]] std::size_t active_count() const noexcept { return members_.size() - zombies_; }
  [[nodiscard]] std::size_t zombie_count() const noexcept { return zombies_; }

  /// Whether no member in the subtree is active.
  [[nodiscard]] bool is_idle() const noexcept { return !busy_; }
  /// Whether the subtree has no members.
  [[nodiscard]] bool is_empty() const noexcept { return !live_; }
  [[nodiscard]] bool is_finished() const noexcept { return is_idle() || is_closed(); }
  [[nodiscard]] bool is_cancelled() const noexcept { return wave_ != Wave::None || is_closed(); }
  /// Takes new members: neither cancelled nor being disposed.
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  [[nodiscard]] bool has_handle() const noexcept { return has_handle_; }
  /// The reason of the first cancellation; null when there was none.
  [[nodiscard]] const std::exception_ptr& reason() const noexcept { return reason_; }

  // --- cancellation ---

  /// What a cancellation that does not say so does to started members.
  [[nodiscard]] StartedMembers started_members() const noexcept {
    return safe_ ? StartedMembers::LetRun : StartedMembers::Cancel;
  }
  /// Changes that. The root scope ignores `Cancel`.
  ScopeBase& set_started_members(StartedMembers started) noexcept;

  /// Cancels the subtree: children first, depth first, then members. An empty scope closes. Twice
  /// is once; a cancellation of started members may follow one that let them run. With
  /// `options.after` it happens when that has passed and the scope is open still; a second such
  /// call replaces the first, and an empty scope is left alone. Throws UsageError for a reason that
  /// is not a Cancellation, a negative `after`, and the root scope, which ends with its runtime.
  void cancel(const ScopeCancelOptions& options = {});

  // --- errors and the end ---

  /// Sets the handler of errors; null removes it.
  void set_exception_handler(ScopeErrorHandler handler) { on_error_ = std::move(handler); }
  /// Sets the handler of errors from child scopes, instead of the one for members.
  void set_child_exception_handler(ScopeErrorHandler handler) {
    on_child_error_ = std::move(handler);
  }
  /// `handler` runs when the scope has closed, after the last member and before the parent closes
  /// (CORE-SP-10); at once when it has closed already.
  void finally(ScopeFinallyHandler handler);

  // --- waiting ---

  /// Waits until the scope is idle. Throws the error of a member that fails meanwhile, which is
  /// taken thereby; the reason when the scope is cancelled; Timeout and OperationCancelled as
  /// `options` say. Closed: returns at once. UsageError from inside the subtree (CORE-SP-12).
  void await_completion(const WaitOptions& options, SourcePlace place);

  /// Waits until a cancelled scope is empty or closed. What members throw meanwhile goes to
  /// `handler`, or is thrown here when that is null; so is what `handler` throws. UsageError when
  /// the scope has not been cancelled, and from inside the subtree.
  void await_after_cancellation(const CleanupErrorHandler& handler, const WaitOptions& options,
                                SourcePlace place);

  /// From now on `strategy` is told of each spawn into this scope; null: nobody. Scopes inside are
  /// not its business.
  void set_spawn_strategy(std::shared_ptr<backend::SpawnStrategy> strategy) noexcept {
    strategy_ = std::move(strategy);
  }

  // --- for other owners ---

  /// While somebody pins it, the scope is not disposed.
  void pin() noexcept { ++pins_; }
  void unpin() noexcept;

  // --- context ---

  /// The values of this scope, made on first use. Throws UsageError when the scope is gone.
  [[nodiscard]] Context context();
  /// From now on this is the request scope of itself and of the scopes created below it.
  void become_request_scope() noexcept { request_ = this; }
  [[nodiscard]] ScopeBase* request_scope() const noexcept { return request_; }

  // --- for the runtime, its observers and primitives that own a scope ---

  /// A child of `parent`, or a detached scope when that is null, with one reference for the caller.
  /// It counts as having a handle; its end is told by handle_gone(). Throws UsageError when the
  /// parent takes no more.
  [[nodiscard]] static Ref<ScopeBase> create(Runtime& runtime, Name&& name, ScopeBase* parent,
                                             const SourcePlace& place);
  /// Disposes the scope if it is empty, else cancels it.
  void handle_gone();
  /// Suspends until a cancelled scope has neither members nor finally handlers that run. What
  /// members throw meanwhile is not taken. For destructors: no cancellation reaches the caller.
  /// Returns at once, and logs a line when members are left, where nobody can wait: inside of the
  /// scope, in a callback, outside of coroutines.
  void join(const SourcePlace& place) noexcept;

  [[nodiscard]] const CoroutineBase* first_member() const noexcept { return members_.first(); }
  [[nodiscard]] const ScopeBase* first_child() const noexcept { return children_.first(); }
  [[nodiscard]] const ScopeBase* next_sibling() const noexcept { return sibling_.after; }
  /// Children that are not idle, and those that are not empty.
  [[nodiscard]] std::size_t busy_child_count() const noexcept { return busy_children_; }
  [[nodiscard]] std::size_t live_child_count() const noexcept { return live_children_; }
  /// The child in which finally handlers of this scope or of its members run.
  [[nodiscard]] bool is_for_cleanup() const noexcept { return for_cleanup_; }
  [[nodiscard]] const std::shared_ptr<detail::ScopeContext>& context_if_any() const noexcept {
    return context_;
  }
  [[nodiscard]] const Outcome* replay() const noexcept override;

 private:
  friend class detail::Scheduler;
  friend class detail::ScopeForest;
  friend class detail::Sweep;

  enum class Wave : std::uint8_t { None, Safe, Hard };
  enum class Stage : std::uint8_t { Open, Disposing, Closed, Gone };
  class Watch;

  ScopeBase(Runtime& runtime, Name&& name, ScopeBase* parent, const SourcePlace& place);
  ~ScopeBase() override;

  // scope.cpp
  void enter(CoroutineBase& coroutine) noexcept {
    members_.push_back(coroutine);
    if (active_count() == 1) [[unlikely]] {
      load_changed();
    }
  }
  void leave(CoroutineBase& coroutine) noexcept {
    members_.remove(coroutine);
    if (coroutine.is_zombie()) [[unlikely]] {
      FERMATA_ASSERT(zombies_ > 0);
      --zombies_;
    }
    if (active_count() == 0) [[unlikely]] {
      load_changed();
    }
  }
  void member_became_zombie() noexcept {
    ++zombies_;
    if (active_count() == 0) load_changed();
  }
  [[noreturn]] void refuse(const char* operation) const;
  [[nodiscard]] const char* condition() const noexcept;
  void load_changed() noexcept;
  [[nodiscard]] bool refresh() noexcept;
  void announce() noexcept;
  bool tell(const Outcome& outcome) noexcept;
  [[nodiscard]] std::vector<Ref<ScopeBase>> snapshot_of_children() const;

  // scope_cancel.cpp
  struct Reasons {
    explicit Reasons(std::exception_ptr reason) : told(reason), for_members(std::move(reason)) {}
    Reasons(std::exception_ptr a_told, std::exception_ptr its_own)
        : told(std::move(a_told)), for_members(std::move(its_own)) {}
    std::exception_ptr told;         // What the scope keeps, and whoever waits for it gets.
    std::exception_ptr for_members;  // The form in which a coroutine is given it.
  };
  [[nodiscard]] Reasons checked_reasons(const ScopeCancelOptions& options) const;
  void cancel_later(const ScopeCancelOptions& options);
  void cancel_tree(const Reasons& reasons, Wave wave);
  void strike(const Reasons& for_children, const std::exception_ptr& for_members, Wave wave);
  [[nodiscard]] Wave own_wave() const noexcept { return wave_of(started_members()); }
  [[nodiscard]] static Wave wave_of(StartedMembers started) noexcept {
    return started == StartedMembers::LetRun ? Wave::Safe : Wave::Hard;
  }
  [[nodiscard]] bool is_news(Wave wave) const noexcept {
    return stage_ == Stage::Open && wave > wave_;
  }

  // scope_dispose.cpp
  [[nodiscard]] bool can_be_disposed() const noexcept;
  void try_to_dispose() noexcept;
  void begin_disposal() noexcept;
  void advance_disposal() noexcept;
  void shut_down() noexcept;
  bool launch_finally() noexcept;
  void leave_tree() noexcept;
  void abandon() noexcept;
  [[nodiscard]] ScopeBase& make_cleanup_scope(const std::string& name);

  // scope_errors.cpp
  static std::exception_ptr route(CoroutineBase& failed, std::exception_ptr error);
  std::exception_ptr offer(ScopeBase* from, CoroutineBase& failed, std::exception_ptr error);
  void fail(const std::exception_ptr& error);

  // scope_await.cpp
  void refuse_if_inside(const char* operation, const CoroutineBase& caller) const;
  [[nodiscard]] bool can_be_joined_by_caller() const noexcept;

  // What every spawn and every end touch.
  CoroutineBase::ScopeList members_;
  std::size_t zombies_ = 0;
  bool open_ = true;  // Stage::Open and Wave::None.
  Stage stage_ = Stage::Open;
  Wave wave_ = Wave::None;
  bool safe_ = false;
  bool root_ = false;
  bool has_handle_ = true;
  bool for_cleanup_ = false;
  bool busy_ = false;      // As the parent's counts have it.
  bool live_ = false;      // Likewise.
  bool has_news_ = false;  // Became idle or empty; not announced yet.
  std::uint32_t pins_ = 0;
  std::uint32_t sweeps_ = 0;  // Cancellations of this scope that are under way.

  detail::Link<ScopeBase> sibling_;

 public:
  using SiblingList = detail::IntrusiveList<ScopeBase, &ScopeBase::sibling_>;

 private:
  ScopeBase* parent_ = nullptr;
  SiblingList children_;
  std::size_t busy_children_ = 0;
  std::size_t live_children_ = 0;
  ScopeBase* request_ = nullptr;

  std::uint64_t id_;
  Name name_;
  SourcePlace place_;
  std::exception_ptr reason_;  // Of the first cancellation.
  std::shared_ptr<backend::SpawnStrategy> strategy_;
  ScopeErrorHandler on_error_;
  ScopeErrorHandler on_child_error_;
  std::vector<ScopeFinallyHandler> finally_handlers_;
  Ref<Timer> deadline_;
  Subscription deadline_watch_;
  std::shared_ptr<detail::ScopeContext> context_;
};

namespace detail {

/// All scopes of a run: the root's tree and the detached ones.
class ScopeForest {
 public:
  /// Makes the root scope.
  void plant(Runtime& runtime);
  /// Disposes whatever is open still, as if every handle had gone; finally handlers get coroutines.
  /// The root comes last, when it is called again after they have ended.
  void close_all() noexcept;
  /// Nothing runs any more: lets go of every scope that is left.
  void fell() noexcept;

  [[nodiscard]] ScopeBase* root() const noexcept { return root_.get(); }
  [[nodiscard]] const ScopeBase::SiblingList& detached() const noexcept { return detached_; }
  void restart_numbering() noexcept { next_id_ = 1; }

 private:
  friend class fermata::ScopeBase;

  Ref<ScopeBase> root_;
  ScopeBase::SiblingList detached_;
  std::uint64_t next_id_ = 1;
};

}  // namespace detail
}  // namespace fermata
