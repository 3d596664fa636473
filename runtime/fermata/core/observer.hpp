// SPDX-License-Identifier: Apache-2.0
#pragma once

// What happens inside a runtime, for somebody who checks it: the simulator's audit and trace hash.
// Production has none; every call is behind one null-pointer test.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/core/event.hpp"
#include "fermata/core/trace.hpp"
#include "fermata/core/trace_hash.hpp"

namespace fermata::detail {

class Pledge;

/// What an observer wants to know of every trace, written down without a call: the trace hash, and
/// which events the present step has touched.
class TraceLog {
 public:
  /// `hash`, which several trace logs may share, must outlive this. Without one it never gets
  /// ready.
  explicit TraceLog(TraceHash* hash) noexcept : hash_(hash) {}
  TraceLog(const TraceLog&) = delete;
  TraceLog& operator=(const TraceLog&) = delete;

  /// Whether the next write may come: there is room, and the hash has not been stopped.
  [[nodiscard]] bool is_ready() const noexcept { return end_ != limit_ && !hash_->is_stopped(); }
  [[nodiscard]] bool has_hash() const noexcept { return hash_ != nullptr; }
  /// Makes room. False, and nothing may be written, without a hash and once it has been stopped.
  [[nodiscard]] bool get_ready();

  /// REQUIRES: is_ready().
  void write(backend::Trace kind, const Event& subject, std::uint64_t detail) noexcept {
    FERMATA_ASSERT(is_ready());
    hash_->add(static_cast<std::uint64_t>(kind), subject.serial(), detail);
    if (kind != backend::Trace::EventDestroyed) touch(subject);
  }
  /// Writes a trace of a kind that has no subject. REQUIRES: is_ready().
  void write(backend::Trace kind, std::uint64_t detail) noexcept {
    FERMATA_ASSERT(is_ready());
    hash_->add(static_cast<std::uint64_t>(kind), 0, detail);
  }

  /// Chooses what touched() is to have: each event once, which has a mark then; or without marks an
  /// event for each trace of it, until there are too many. REQUIRES: touched() is empty.
  void mark_touched(bool marks) noexcept {
    FERMATA_ASSERT(touched().empty());
    mark_ = marks ? Event::AuditMark::kTouched : 0;
  }

  /// Notes that `subject` is touched without writing to the trace hash.
  void note_use(const Event& subject) {
    if (is_ready() || get_ready()) touch(subject);
  }

  /// Events that were touched since the last forget_all(); null when destroyed since.
  [[nodiscard]] std::span<const Event* const> touched() const noexcept { return {begin_, end_}; }
  /// Forgets all of them; the caller resets the marks of those that are left.
  void forget_all() noexcept { begin_ = end_ = touched_.get(); }
  /// After mark_touched(false): forgets all of them, and resets the marks, if any were needed.
  void start_over() noexcept {
    if (mark_ != 0) reset_marks();
    forget_all();
  }
  /// `event` is being destroyed.
  void forget(const Event& event) noexcept;

 private:
  void touch(const Event& event) noexcept {
    Event::AuditMark& mark = event.audit_mark();
    if (mark.has(Event::AuditMark::kTouched)) return;
    mark.bits = static_cast<std::uint8_t>(mark.bits | mark_);
    *end_++ = &event;
  }
  void forget_marked(const Event& event) noexcept;
  /// Keeps each event once. Goes on with marks unless more than half is free then; returns whether
  /// it is.
  bool drop_repeated() noexcept;
  void reset_marks() noexcept;

  TraceHash* hash_;
  std::uint8_t mark_ = Event::AuditMark::kTouched;  // Set on what is touched; 0: nothing is.
  const Event** begin_ = nullptr;
  const Event** end_ = nullptr;
  const Event** limit_ = nullptr;
  std::unique_ptr<const Event*[]> touched_;
};

}  // namespace fermata::detail

namespace fermata::backend {

struct AssertionSite;

/// Thrown by an observer, this ends the run at once: no cancellation, every coroutine is unwound by
/// force, and `Runtime::run` throws it.
struct AbandonRun {};

class Observer {
 public:
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  /// Something happened to `subject` (null when the kind has none).
  [[gnu::always_inline]] void trace(Trace kind, const Event* subject, std::uint64_t detail) {
    subject != nullptr ? trace_of(kind, *subject, detail) : trace_alone(kind, detail);
  }

  /// Called when a step has ended and no state of the runtime is half-changed. May throw: the error
  /// is handled like an exception of the scheduler loop.
  virtual void end_step(Runtime& runtime) = 0;

  /// A rule of the runtime itself does not hold: `invariant` is its name in docs/invariants.md.
  virtual void broken(std::string_view invariant, const std::string& what) {
    static_cast<void>(invariant), static_cast<void>(what);
  }
  /// Why the observer has ended the run, as text for people.
  [[nodiscard]] virtual std::string why() const { return {}; }

  // --- assertions of the program, see assertions.hpp ---

  /// Called when an assertion was reached, and holds or not; `slack` is how far the numbers that it
  /// compares are inside the bound, 0 when it compares none.
  virtual void reached(const AssertionSite& site, bool holds, std::int64_t slack) {
    static_cast<void>(site), static_cast<void>(holds), static_cast<void>(slack);
  }

  /// Called when an assertion that must hold is violated; `details` is for people. Returns whether
  /// that matters: when not, the program goes on as if it held.
  virtual bool violated(const AssertionSite& site, const std::string& details) {
    static_cast<void>(site), static_cast<void>(details);
    return true;
  }

  /// `pledge` must come to hold; it lives until end_of_pledge(), which is `by_exception` when its
  /// scope is left by one. The second throws nothing.
  virtual void pledged(detail::Pledge& pledge) { static_cast<void>(pledge); }
  virtual void end_of_pledge(detail::Pledge& pledge, bool by_exception) noexcept {
    static_cast<void>(pledge), static_cast<void>(by_exception);
  }

 protected:
  /// Every trace goes to the log of `hash`, if there is one; those of `noted` kinds to note() as
  /// well. `hash` must outlive this.
  explicit Observer(TraceKinds noted, detail::TraceHash* hash = nullptr) noexcept
      : trace_log_(hash), noted_(noted) {}

  [[nodiscard]] detail::TraceLog& trace_log() noexcept { return trace_log_; }

  void note_only(TraceKinds noted) noexcept { noted_ = noted; }

 private:
  // In production nobody observes: these are calls, which leave the hot paths short.
  void trace_of(Trace kind, const Event& subject, std::uint64_t detail);
  void trace_alone(Trace kind, std::uint64_t detail);
  /// When the trace log has no room, has no hash, or is stopped.
  void trace_unready(Trace kind, const Event* subject, std::uint64_t detail);

  /// Throws nothing; only of a timer that fires between two steps, AbandonRun.
  virtual void note(Trace kind, const Event* subject, std::uint64_t detail) = 0;

  detail::TraceLog trace_log_;
  TraceKinds noted_;
};

}  // namespace fermata::backend
