// SPDX-License-Identifier: Apache-2.0
#pragma once

// The base of everything that can be waited for.
//
// Life cycle   created -> active (started) <-> stopped -> closed -> disposed. Closed is terminal.
// Two counts   Memory: add_ref/release. Activity: start/stop; only the 0 <-> 1 edges reach the
//              backend and the runtime's count of active events.
// Threads      The runtime's thread only. Nothing here suspends.
// Source       CORE-EV-01 to 16.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "fermata/base/intrusive_list.hpp"
#include "fermata/base/name.hpp"
#include "fermata/base/ref.hpp"
#include "fermata/base/source_place.hpp"
#include "fermata/core/audit_mark.hpp"
#include "fermata/core/callback_vector.hpp"
#include "fermata/core/event_kind.hpp"

namespace fermata {

class CoroutineBase;
class Runtime;

namespace detail {
struct Kernel;
}

namespace backend {
class EventRef;
class WaitFacts;

/// An object outside the event that owns it: references to the event become references to it.
class EventOwner {
 public:
  virtual void add_owner_ref() noexcept = 0;
  virtual void release_owner_ref() noexcept = 0;

 protected:
  ~EventOwner() = default;
};

}  // namespace backend

class Event {
 public:
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // --- ownership ---

  void add_ref() noexcept {
    if (owner_ != nullptr) [[unlikely]] {
      return owner_->add_owner_ref();
    }
    ++ref_count_;
  }
  /// Drops one reference; the last one disposes the event.
  void release() noexcept {
    if (owner_ != nullptr) [[unlikely]] {
      return owner_->release_owner_ref();
    }
    FERMATA_ASSERT(ref_count_ > 0);
    if (--ref_count_ == 0) dispose();
  }
  [[nodiscard]] std::uint32_t ref_count() const noexcept { return ref_count_; }

  /// From now on add_ref and release go to `owner`. REQUIRES: no owner yet.
  void set_owner(backend::EventOwner& owner) noexcept {
    FERMATA_ASSERT(owner_ == nullptr);
    owner_ = &owner;
  }
  [[nodiscard]] backend::EventOwner* owner() const noexcept { return owner_; }

  // --- subscribers ---

  /// Subscribes. On a closed event that can replay, the callback runs at once with the stored
  /// outcome and is not kept; on any other closed event nothing happens. Returns whether the
  /// callback is subscribed now. Throws UsageError when it is subscribed already.
  bool add_callback(backend::Callback& callback);

  /// add_callback(). REQUIRES: it is open.
  void add_callback(backend::Callback& callback, detail::Kernel& kernel);

  /// Returns false, and does nothing, when the callback is not subscribed here.
  bool remove_callback(backend::Callback& callback) noexcept;

  [[nodiscard]] const backend::CallbackVector& callbacks() const noexcept { return callbacks_; }

  // --- activity ---

  /// Adds a loop reference; the first one arms the backend. No effect once closed. When arming
  /// throws, nothing has changed (CORE-WK-15).
  void start();

  /// start(), which arms nothing. REQUIRES: it is started and open.
  void start_again(detail::Kernel& kernel) noexcept;

  /// Drops a loop reference; the last one disarms the backend. No effect without one (CORE-EV-04).
  void stop() noexcept;

  /// Whether start and stop have an effect on this kind of event.
  [[nodiscard]] bool is_startable() const noexcept { return kind_ > backend::EventKind::Coroutine; }

  [[nodiscard]] std::uint32_t loop_ref_count() const noexcept { return loop_ref_count_; }

  /// Changes whenever all loop references are given back at once; a start made before that is void,
  /// and its stop must not be made up for (a multishot timer may be armed again in its own pass).
  [[nodiscard]] std::uint32_t round() const noexcept { return round_; }

  /// A hidden event neither keeps the loop alive nor hides a deadlock (CORE-EV-11).
  /// Throws UsageError while the event is started.
  void set_hidden(bool hidden);
  [[nodiscard]] bool is_hidden() const noexcept { return has(kHidden); }

  /// Whether this event is one of the runtime's active events now.
  [[nodiscard]] bool counts_as_active() const noexcept {
    return loop_ref_count_ > 0 && counts_when_started();
  }

  // --- firing ---

  /// Tells the subscribers. A notify from inside a pass of the same event is delivered after that
  /// pass (EVT-11). Returns whether a subscriber took the error. Throws what callbacks threw, when
  /// the pass is over.
  bool notify(const Outcome& outcome) {
    if (notify_handler_ != nullptr) [[unlikely]] {
      return transform(outcome);
    }
    return notify_from_handler(outcome);
  }

  /// Whether a notify reaches anybody now.
  [[nodiscard]] bool has_listeners() const noexcept {
    return callbacks_.size() > 0 || notify_handler_ != nullptr;
  }

  /// Closes first, then tells the subscribers, so that nobody subscribes to a dead one-shot.
  bool notify_and_close(const Outcome& outcome);

  /// Closes without telling anybody: releases every loop reference and disarms. Idempotent.
  void close() noexcept {
    if (!is_closed()) close_now();
  }

  [[nodiscard]] bool is_closed() const noexcept { return has(kClosed); }

  /// A function that runs instead of the subscribers at every notify; it passes its outcome to
  /// `notify_from_handler`, or swallows it (CORE-EV-14).
  using NotifyHandler = void (*)(Event& event, const Outcome& outcome);
  void set_notify_handler(NotifyHandler handler) noexcept { notify_handler_ = handler; }
  bool notify_from_handler(const Outcome& outcome);

  /// The stored outcome of a closed event of a kind that keeps it; null otherwise (CORE-EV-08).
  [[nodiscard]] virtual const Outcome* replay() const noexcept { return nullptr; }

  /// The error delivered to a waiter for `error`, with which this fired. Override it to give each
  /// waiter a copy of its own.
  [[nodiscard]] virtual std::exception_ptr error_for_waiter(const std::exception_ptr& error) {
    return error;
  }

  /// Whether this will never end a wait that it is the token of.
  [[nodiscard]] virtual bool void_as_token() const noexcept { return false; }

  /// Asks the work behind this event to end, with `reason`, which holds a Cancellation; false, and
  /// no effect, when it cannot be cancelled. Never suspends.
  virtual bool request_cancel(const std::exception_ptr& /*reason*/) { return false; }

  /// Whether an error of this event that nobody catches is reported at its end. Such an error is
  /// caught when a waiter gets it, not when one is woken with it (CORE-CO-10).
  [[nodiscard]] virtual bool reports_error() const noexcept { return false; }

  /// Called by a subscriber during a pass: the error has found its taker (CORE-EV-15).
  void mark_exception_handled() noexcept { flags_ |= kExceptionHandled; }
  [[nodiscard]] bool exception_handled() const noexcept { return has(kExceptionHandled); }

  /// An await of this event began: its result is not unused.
  void mark_result_used() noexcept { flags_ |= kResultUsed; }
  [[nodiscard]] bool result_used() const noexcept { return has(kResultUsed); }

  /// A subscriber keeps the error for somebody who has not been given it yet, and a reference with
  /// it: when that one drops out, nobody has taken the error.
  void mark_exception_owed() noexcept { flags_ |= kExceptionOwed; }
  [[nodiscard]] bool exception_owed() const noexcept { return has(kExceptionOwed); }

  /// The error reached somebody: it is not unhandled.
  void mark_exception_caught() noexcept { flags_ |= kExceptionCaught; }
  [[nodiscard]] bool exception_caught() const noexcept { return has(kExceptionCaught); }

  /// Notes that it was passed to an operation as a token, which counts as a use of it and of its
  /// error (EVT-07). A coroutine's error must still reach somebody (CORE-CO-10).
  void mark_used_as_token() noexcept {
    mark_result_used();
    if (kind_ != backend::EventKind::Coroutine) mark_exception_caught();
  }

  // --- identity ---

  [[nodiscard]] backend::EventKind kind() const noexcept { return kind_; }
  [[nodiscard]] Runtime& runtime() const noexcept { return *runtime_; }

  /// Position in the order of creation within the runtime's run; never an address.
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }

  /// For people. Runs no user code and works in every state.
  [[nodiscard]] virtual std::string info() const;
  /// The place where the program created it; null when that was not noted.
  [[nodiscard]] virtual const SourcePlace* made_at() const noexcept { return nullptr; }
  /// info(), and where it was made.
  [[nodiscard]] std::string info_with_place() const;
  /// Diagnostics: reports why this event has not fired, as far as it knows, and what `waiter` wants
  /// of it. Runs no user code, works in every state.
  virtual void explain_wait(backend::WaitFacts& /*facts*/, const CoroutineBase& /*waiter*/) const {}
  /// Whether this, when it has come so far, makes `other` fire.
  [[nodiscard]] virtual bool answers_for(const Event& /*other*/) const noexcept { return false; }
  /// Whether its waiters stand in line in the order of arrival. For the audit; visits all of them.
  [[nodiscard]] virtual bool lines_are_in_order() const noexcept { return true; }
  /// Whether an EventRef points here: somebody may fire it without owning it.
  [[nodiscard]] bool is_pointed_at() const noexcept { return references_ != nullptr; }

  // --- for the runtime and the audit ---

  [[nodiscard]] Event* next_live() const noexcept { return live_.after; }
  /// The present step uses this in a way that leaves no trace: it looks at it, or changes what
  /// others may look at. One null-pointer test unless somebody asks what steps use.
  void touched() const;
  /// Whether every use of this is either traced or told by touched().
  [[nodiscard]] bool tells_uses() const noexcept { return has(kTellsUses); }

  using AuditMark = detail::AuditMark;
  [[nodiscard]] AuditMark& audit_mark() const noexcept { return audit_mark_; }

 protected:
  /// Creates with one reference, the creator's.
  Event(Runtime& runtime, backend::EventKind kind) noexcept;
  virtual ~Event();

  /// The backend begins, or ends, to watch for this event. Called on the 0 <-> 1 edges only.
  virtual void arm() {}
  virtual void disarm() noexcept {}

  /// Said at its creation by what keeps the promise of tells_uses().
  void promise_to_tell() noexcept { flags_ |= kTellsUses; }

  /// start() without arm(). REQUIRES: it counts as active when started, and is not.
  void start_unarmed(detail::Kernel& kernel) noexcept;
  /// Gives back every loop reference at once and disarms. REQUIRES: it is started.
  void leave_loop() noexcept;
  /// Puts it into the list of live events, unless it is there.
  void enlist() noexcept;

  /// Nobody refers to the event any more. An event on the heap deletes itself here, at once or when
  /// its backend has acknowledged; one that is embedded in something else does nothing.
  virtual void dispose() noexcept { delete this; }

  /// Disarms, closes, detaches every subscriber and empties every EventRef. A subclass that arms a
  /// backend calls it first thing in its destructor, while its `disarm` can still be reached.
  void shut() noexcept {
    if (!is_shut()) shut_now();
  }

  /// Detaches every subscriber of an event that will not fire again.
  void drop_subscribers() noexcept {
    if (callbacks_.size() > 0) callbacks_.clear();
  }

 private:
  friend class backend::EventRef;
  friend struct detail::DebuggerLayout;

  enum Flag : std::uint16_t {
    kClosed = 1u << 0,
    kResultUsed = 1u << 1,
    kExceptionCaught = 1u << 2,
    kExceptionHandled = 1u << 3,
    kHidden = 1u << 4,
    kExceptionOwed = 1u << 5,
    kTellsUses = 1u << 6,
    kListed = 1u << 7,
  };
  struct QueuedNotifies;

  [[nodiscard]] bool has(Flag flag) const noexcept { return (flags_ & flag) != 0; }
  [[nodiscard]] bool counts_when_started() const noexcept {
    return !has(kHidden) && is_startable() && kind_ < backend::EventKind::Io;
  }
  void close_now() noexcept;
  [[nodiscard]] bool is_shut() const noexcept {
    return is_closed() && callbacks_.size() == 0 && references_ == nullptr;
  }
  void shut_now() noexcept;
  void replay_to(backend::Callback& callback);
  bool transform(const Outcome& outcome);
  bool notify_each(const Outcome& outcome);
  std::exception_ptr run_pass(const Outcome& outcome);
  std::exception_ptr run_queued(QueuedNotifies& queued, std::exception_ptr error);

  Runtime* runtime_;
  std::uint64_t serial_;
  std::uint32_t ref_count_ = 1;
  std::uint32_t loop_ref_count_ = 0;
  std::uint16_t flags_ = 0;
  backend::EventKind kind_;
  mutable AuditMark audit_mark_;
  std::uint32_t round_ = 0;
  backend::CallbackVector callbacks_;
  NotifyHandler notify_handler_ = nullptr;
  backend::EventOwner* owner_ = nullptr;
  backend::EventRef* references_ = nullptr;
  std::optional<QueuedNotifies>* queued_ = nullptr;  // Of the running pass.
  detail::Link<Event> live_;

 public:
  using LiveList = detail::IntrusiveList<Event, &Event::live_>;
};

namespace backend {
/// Points at an event without owning it: the event may close while this lives on, and then this is
/// empty. Its end does not stop the event.
class EventRef {
 public:
  EventRef() noexcept = default;
  explicit EventRef(Event& event) noexcept;
  EventRef(const EventRef&) = delete;
  EventRef& operator=(const EventRef&) = delete;
  ~EventRef();

  /// The event, or null when it is gone.
  [[nodiscard]] Event* get() const noexcept { return event_; }

 private:
  friend class fermata::Event;
  Event* event_ = nullptr;
  EventRef* before_ = nullptr;
  EventRef* after_ = nullptr;
};

}  // namespace backend

/// Subscribes `function(Event&, const Outcome&)` for as long as the returned handle lives.
class Subscription {
 public:
  Subscription() noexcept = default;
  Subscription(Subscription&& from) noexcept : callback_(std::exchange(from.callback_, nullptr)) {}
  Subscription& operator=(Subscription&& other) noexcept {
    std::swap(callback_, other.callback_);
    return *this;
  }
  ~Subscription() { cancel(); }

  /// Unsubscribes; no effect when the event let go already.
  void cancel() noexcept;
  [[nodiscard]] bool is_active() const noexcept {
    return callback_ != nullptr && callback_->event() != nullptr;
  }

 private:
  template <class F>
  friend Subscription subscribe(Event& event, F function);
  explicit Subscription(backend::Callback& callback) noexcept : callback_(&callback) {
    callback_->add_ref();
  }
  backend::Callback* callback_ = nullptr;
};

namespace detail {

template <class F>
class FunctionCallback final : public backend::Callback {
 public:
  explicit FunctionCallback(F function) : function_(std::move(function)) {}
  void run(Event& event, const Outcome& outcome) override { function_(event, outcome); }

 private:
  void destroy() noexcept override { delete this; }
  F function_;
};

}  // namespace detail

/// `function` must not suspend; what it throws surfaces from notify. On a closed event that can
/// replay it runs before this returns, and the subscription is over.
template <class F>
[[nodiscard]] Subscription subscribe(Event& event, F function) {
  auto* callback = new detail::FunctionCallback<F>(std::move(function));
  Subscription subscription(*callback);
  event.add_callback(*callback);
  return subscription;
}

}  // namespace fermata
