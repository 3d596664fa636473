// SPDX-License-Identifier: Apache-2.0
#pragma once

// A coroutine: an event that completes when its body ends, with a waker and, while it runs or is
// suspended, a context.
//
// Life cycle   created -> queued -> running <-> waiting -> finished; or queued -> ignored ->
//              finished when it was cancelled before its start (its body never runs).
// Ownership    The runtime holds a reference until the coroutine is finished; handles hold others.
// Threads      The runtime's thread only.
// Source       CORE-CO-01 to 19.

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fermata/base/name.hpp"
#include "fermata/base/source_place.hpp"
#include "fermata/core/awaited_error.hpp"
#include "fermata/core/event.hpp"
#include "fermata/core/local_context.hpp"
#include "fermata/core/switch_handlers.hpp"
#include "fermata/core/waker.hpp"

namespace fermata {

class CoroutineBase;
class ScopeBase;

namespace detail {
class Limit;
struct Shelter;
class Scheduler;
class Sweep;
class WaitLimit;
struct StackContext;
}  // namespace detail

/// The priority of a coroutine; there are only two levels (CORE-SC-03).
enum class Priority : std::uint8_t {
  Normal,  // to the tail of the ready queue
  High,    // to its head, on spawn and at every wake; its own yield goes to the tail
};

/// Runs once when its coroutine has ended, in a coroutine of its own; may suspend.
using FinallyHandler = std::function<void(CoroutineBase&)>;

class CoroutineBase : public Event {
 public:
  /// The id of the coroutine; never reused while the runtime lives (CORE-CO-16).
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] std::string_view name() const noexcept { return name_.view(); }
  /// The name, or "coroutine 7" without one.
  [[nodiscard]] std::string label() const;
  /// Stable identity under edits of the program: what this is called and who spawned it. Only in
  /// simulation; 0 otherwise.
  [[nodiscard]] std::uint64_t path() const noexcept { return path_; }
  [[nodiscard]] Priority priority() const noexcept { return priority_; }
  /// From now on it is put in line with this priority. One that is in line and gets High goes to
  /// the head of the line at once; no effect on a finished one.
  void set_priority(Priority priority) noexcept;
  /// The scope that it is a member of. Throws UsageError when it has ended, or was never spawned.
  [[nodiscard]] ScopeBase& scope() const {
    FERMATA_REQUIRE(scope_ != nullptr, "scope: a coroutine has one from its spawn to its end");
    return *scope_;
  }
  [[nodiscard]] const SourcePlace& spawn_place() const noexcept { return spawn_place_; }
  /// Where it is suspended; null while it is not.
  [[nodiscard]] const SourcePlace* suspend_place() const noexcept { return waker_.place; }

  [[nodiscard]] bool is_main() const noexcept { return has(kMain); }
  [[nodiscard]] bool is_started() const noexcept { return has(kStarted); }
  [[nodiscard]] bool is_queued() const noexcept {
    return waker_.status == backend::WakerStatus::Queued ||
           waker_.status == backend::WakerStatus::Ignored;
  }
  [[nodiscard]] bool is_running() const noexcept;
  [[nodiscard]] bool is_suspended() const noexcept;
  [[nodiscard]] bool is_completed() const noexcept { return is_closed(); }
  [[nodiscard]] bool is_cancelled() const noexcept { return has(kCancelled) && is_closed(); }
  [[nodiscard]] bool is_cancellation_requested() const noexcept;
  [[nodiscard]] bool is_zombie() const noexcept { return has(kZombie); }

  /// How it failed, once it is finished; null before and when it succeeded.
  [[nodiscard]] const std::exception_ptr& error() const noexcept { return outcome_.error; }

  /// Asks the coroutine to stop: at its next suspension point it gets `reason`, which must hold a
  /// Cancellation (null: "Coroutine cancelled"); UsageError otherwise. With `safely` a started one
  /// runs on to its natural end as a zombie. Never runs user code, never suspends; no effect on a
  /// finished coroutine (CORE-CO-04, CO-05).
  void cancel(std::exception_ptr reason = nullptr, bool safely = false);

  bool request_cancel(const std::exception_ptr& reason) override {
    cancel(reason);
    return true;
  }

  /// `handler` runs when the coroutine has ended, whatever the end; at once when it has ended
  /// already (CORE-CO-07).
  void finally(FinallyHandler handler);

  /// Adds a switch handler and returns its index. Throws UsageError while handlers run.
  std::size_t add_switch_handler(std::shared_ptr<backend::SwitchHandler> handler);
  bool remove_switch_handler(const backend::SwitchHandler& handler);

  /// Values that belong to this coroutine alone; made on first use, live as long as the coroutine
  /// object (CORE-CX-04).
  [[nodiscard]] backend::LocalContext& local();

  /// A slot for an extension's own data, destroyed when the coroutine ends.
  [[nodiscard]] std::shared_ptr<void>& slot(backend::SlotKey key);

  /// "Coroutine 42 spawned at file:line, suspended at file:line (function)".
  [[nodiscard]] std::string info() const override;
  /// The return addresses of its frames, innermost first, at most 256: for addr2line or
  /// sim::stack_text(). Empty before it has started and when it has ended. For the thread that runs
  /// it.
  [[nodiscard]] std::vector<const void*> call_stack() const;
  /// The events that it waits for: the info() of each.
  [[nodiscard]] std::vector<std::string> awaiting() const;

  [[nodiscard]] const Outcome* replay() const noexcept override {
    return is_closed() ? &outcome_ : nullptr;
  }
  [[nodiscard]] bool reports_error() const noexcept override { return true; }
  [[nodiscard]] std::exception_ptr error_for_waiter(const std::exception_ptr& error) override;
  [[nodiscard]] backend::Waker& waker() noexcept { return waker_; }
  [[nodiscard]] const backend::Waker& waker() const noexcept { return waker_; }

  [[nodiscard]] CoroutineBase* next_registered() const noexcept { return registry_link_.after; }

 protected:
  CoroutineBase(Runtime& runtime, std::size_t block_bytes, Name&& name,
                const SourcePlace& place) noexcept;
  ~CoroutineBase() override = default;

  /// Runs the body and stores its result.
  virtual void invoke() = 0;
  /// Destroys the body and says where the result is, if there is one; called once, whether the body
  /// ran or not.
  virtual void* drop_body() noexcept = 0;

 private:
  friend class detail::Scheduler;
  friend class detail::Sweep;
  friend class detail::WaitLimit;
  friend class ScopeBase;
  friend struct detail::DebuggerLayout;

  enum Flag : std::uint16_t {
    kStarted = 1u << 0,
    kCancelled = 1u << 1,
    kZombie = 1u << 2,
    kMain = 1u << 3,
    kUnwinding = 1u << 4,  // being force-unwound: only its destructors may wait
    kForced = 1u << 5,     // ignored its deadlock cancellations: its next suspend raises
    kOrphaned = 1u << 6,   // finished with an error that nobody has taken yet
    kShielded = 1u << 7,   // runs clean-up: not cancelled before its start
    kProtectionCleared = 1u << 8,
    kToldToUnwind = 1u << 9,  // has had its ForcedUnwind
    kKeepsUnwind = 1u << 10,  // and goes on, as code runs that no exception may leave
    kLimitDue = 1u << 11,     // a limit was reached while it did not wait: its next wait ends
  };

  struct Extras {
    std::exception_ptr deferred_cancellation;  // Arrived inside protect().
    std::vector<FinallyHandler> finally_handlers;
    detail::SwitchHandlers switch_handlers;
    backend::LocalContext local;
    std::vector<std::shared_ptr<void>> slots;
    detail::AwaitedError awaited_error;
    detail::Limit* limit = nullptr;  // The innermost of those that it is inside of.
  };

  [[nodiscard]] bool has(Flag flag) const noexcept { return (flags_ & flag) != 0; }
  void set(Flag flag) noexcept { flags_ = static_cast<std::uint16_t>(flags_ | flag); }
  void unset(Flag flag) noexcept { flags_ = static_cast<std::uint16_t>(flags_ & ~flag); }
  /// Whether something other than its waker may keep it from suspending.
  [[nodiscard]] bool has_pending() const noexcept {
    if ((flags_ & (kUnwinding | kForced | kLimitDue)) != 0) return true;
    return stored_error_ != nullptr && !is_protected();
  }
  /// Clean-up that has not begun: nothing but force keeps it from running.
  [[nodiscard]] bool waits_to_clean_up() const noexcept { return has(kShielded) && !is_started(); }
  [[nodiscard]] bool is_protected() const noexcept {
    return protect_depth_ > 0 && !has(kProtectionCleared);
  }
  Extras& extras();
  [[nodiscard]] detail::Limit* limit() const noexcept {
    return extras_ != nullptr ? extras_->limit : nullptr;
  }
  void set_limit(detail::Limit* limit) { extras().limit = limit; }
  void call_off_limits() noexcept;
  /// What keeps it from being interrupted now.
  [[nodiscard]] detail::Shelter shelter() const noexcept;
  /// What must reach it where it is outside of destructors; null for nothing.
  [[nodiscard]] std::exception_ptr take_pending_cancellation();
  void dispose() noexcept final;

  // What only its spawn, its end and reports need.
  std::uint64_t id_ = 0;
  std::uint64_t path_ = 0;
  Name name_;
  SourcePlace spawn_place_;
  ScopeBase* scope_ = nullptr;  // From its spawn to its end.
  // What a switch needs: one cache line, together with the beginning of the waker.
  detail::StackContext* context_ = nullptr;  // From the first switch-in to the finish.
  std::unique_ptr<Extras> extras_;
  std::exception_ptr stored_error_;  // Cancelled by itself or before its start.
  std::uint16_t flags_ = 0;
  std::uint16_t protect_depth_ = 0;
  std::uint16_t destructor_depth_ = 0;  // Nested calls of protect_in_destructor.
  Priority priority_ = Priority::Normal;
  backend::Waker waker_;
  // The rest.
  Outcome outcome_;  // Valid once closed.
  std::uint32_t block_bytes_;
  detail::Link<CoroutineBase> registry_link_;
  detail::Link<CoroutineBase> scope_link_;

 public:
  using Registry = detail::IntrusiveList<CoroutineBase, &CoroutineBase::registry_link_>;
  using ScopeList = detail::IntrusiveList<CoroutineBase, &CoroutineBase::scope_link_>;
};

static_assert(sizeof(CoroutineBase) <= 512);

namespace detail {

/// A coroutine whose body returns a T.
template <class T>
class CoroutineOf : public CoroutineBase {
 public:
  using CoroutineBase::CoroutineBase;
  /// The result. Throws UsageError when it has not succeeded, or not yet.
  [[nodiscard]] const T& result() const {
    FERMATA_REQUIRE(result_.has_value(), "the coroutine has no result");
    return *result_;
  }
  /// A copy of the result, or the result itself when it cannot be copied: then nobody else can have
  /// it.
  [[nodiscard]] T take_result() {
    FERMATA_REQUIRE(result_.has_value(), "the coroutine has no result");
    if constexpr (std::is_copy_constructible_v<T>) {
      return *result_;
    } else {
      return std::move(*result_);
    }
  }

 protected:
  [[nodiscard]] void* result_address() noexcept { return result_ ? &*result_ : nullptr; }
  std::optional<T> result_;
};

template <>
class CoroutineOf<void> : public CoroutineBase {
 public:
  using CoroutineBase::CoroutineBase;
  void result() const noexcept {}
  void take_result() const noexcept {}

 protected:
  [[nodiscard]] void* result_address() noexcept { return nullptr; }
};

template <class F, class T>
class CoroutineBody final : public CoroutineOf<T> {
 public:
  template <class B>
  CoroutineBody(Runtime& runtime, Name&& name, const SourcePlace& place, B&& body)
      : CoroutineOf<T>(runtime, sizeof(CoroutineBody), std::move(name), place),
        body_(std::forward<B>(body)) {}
  ~CoroutineBody() override {}

 private:
  void invoke() override {
    if constexpr (std::is_void_v<T>) {
      body_();
    } else {
      this->result_.emplace(body_());
    }
  }
  void* drop_body() noexcept override {
    body_.~F();
    return this->result_address();
  }

  union {
    F body_;  // Destroyed by drop_body.
  };
};

}  // namespace detail

/// A handle to a coroutine. Copies refer to the same one. When the last handle to a coroutine that
/// failed goes and nobody has taken the error, the error is unhandled (CORE-CO-10).
template <class T = void>
class Coroutine {
 public:
  Coroutine() noexcept = default;
  explicit Coroutine(Ref<detail::CoroutineOf<T>> coroutine) noexcept
      : coroutine_(std::move(coroutine)) {}

  [[nodiscard]] detail::CoroutineOf<T>& operator*() const noexcept {
    coroutine_->touched();
    return *coroutine_;
  }
  [[nodiscard]] detail::CoroutineOf<T>* operator->() const noexcept { return &**this; }
  explicit operator bool() const noexcept { return static_cast<bool>(coroutine_); }

  void cancel(std::exception_ptr reason = nullptr) const { (**this).cancel(std::move(reason)); }

  /// The event of its end, which has its result then; this makes it awaitable.
  [[nodiscard]] CoroutineBase& event() const noexcept { return *coroutine_; }
  decltype(auto) result() const { return (**this).result(); }
  decltype(auto) take_result() const { return (**this).take_result(); }

 private:
  Ref<detail::CoroutineOf<T>> coroutine_;
};

}  // namespace fermata
