// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of a runtime that every object of the core touches.

#include <cstddef>
#include <cstdint>

#include "fermata/base/assert.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/core/event.hpp"
#include "fermata/core/observer.hpp"
#include "fermata/core/wait_facts.hpp"

namespace fermata::backend {

class Chooser;

}  // namespace fermata::backend

namespace fermata {

namespace detail {

struct Kernel {
  backend::Chooser* chooser = nullptr;    // Null in production.
  backend::Observer* observer = nullptr;  // Null in production.
  backend::WaitLog* wait_log = nullptr;   // Null unless somebody wants to explain what comes.
  TraceLog* uses = nullptr;               // Null unless somebody asks what each step has used.

  std::size_t active_events = 0;  // CORE-EV-01.
  std::uint64_t next_serial = 1;
  Event::LiveList live_events;  // See lists_at_birth().
  unsigned no_suspend = 0;      // Depth of user code that must not suspend.

  /// Whether events of `kind` are in the list from their first moment. In production nobody looks
  /// for a request, which lies in a frame of its user: its neighbours would be lines of other
  /// stacks. A coroutine is in the registry until it ends, and in this list only if it is held
  /// after that.
  [[nodiscard]] bool lists_at_birth(backend::EventKind kind) const noexcept {
    return observer != nullptr ||
           (kind != backend::EventKind::Request && kind != backend::EventKind::Coroutine);
  }

  /// The hint suits simulation, which traces every event. Production takes one jump instead.
  [[gnu::always_inline]] void trace(backend::Trace kind, const Event* subject,
                                    std::uint64_t detail) {
    if (observer != nullptr) [[likely]] {
      observer->trace(kind, subject, detail);
    }
  }

  void touched(const Event& event) {
    if (uses != nullptr) [[unlikely]] {
      uses->note_use(event);
    }
  }

  void log_wait(backend::WaitAct act, const Event& object, const SourcePlace* place,
                std::uint64_t detail = 0) {
    if (wait_log != nullptr) [[unlikely]] {
      wait_log->note(act, object, place, detail);
    }
  }

  void log_lease(backend::WaitAct act, const backend::PoolResource& resource,
                 const SourcePlace* place) {
    if (wait_log != nullptr) [[unlikely]] {
      wait_log->note_lease(act, resource, place);
    }
  }
};

}  // namespace detail

// The short ways to subscribe to an event and to start it, which a wait and a request take.

FERMATA_HOT void Event::add_callback(backend::Callback& callback, detail::Kernel& kernel) {
  FERMATA_ASSERT(!is_closed());
  callbacks_.add(callback, *this);
  kernel.trace(backend::Trace::CallbackAdded, this, 0);
}

FERMATA_HOT void Event::start_again(detail::Kernel& kernel) noexcept {
  FERMATA_ASSERT(loop_ref_count_ > 0);
  FERMATA_ASSERT(!is_closed());
  ++loop_ref_count_;
  kernel.trace(backend::Trace::EventStarted, this, loop_ref_count_);
}

FERMATA_HOT void Event::start_unarmed(detail::Kernel& kernel) noexcept {
  FERMATA_ASSERT(loop_ref_count_ == 0);
  FERMATA_ASSERT(counts_when_started());
  ++kernel.active_events;
  loop_ref_count_ = 1;
  kernel.trace(backend::Trace::EventStarted, this, 1);
}

}  // namespace fermata
