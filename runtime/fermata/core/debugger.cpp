// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/debugger.hpp"

#include <cstddef>
#include <mutex>
#include <type_traits>

#include "fermata/core/runtime.hpp"
#include "fermata/system/mutex.hpp"

namespace fermata::detail {

// Of classes that are not of standard layout compilers give offsets too, but complain.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

static_assert(std::is_standard_layout_v<CoroutineBase::Registry>);  // Its first member is first.
static_assert(offsetof(SourcePlace, file) == 0 && offsetof(SourcePlace, function) == 8 &&
              offsetof(SourcePlace, line) == 16);

/// A friend of those whose members it locates.
struct DebuggerLayout {
  static constexpr std::size_t kScheduler = offsetof(Runtime, scheduler_);
  static constexpr std::size_t kWaker = offsetof(CoroutineBase, waker_);

  static constexpr DebuggerAnchor anchor() {
    return {
        .magic = "fermata anchor",
        .version = 1,
        .first_runtime = nullptr,
        .runtime_next = offsetof(Runtime, debugger_link_) + offsetof(Link<Runtime>, after),
        .runtime_name = offsetof(Runtime, options_) + offsetof(RuntimeOptions, name),
        .runtime_current_coroutine = kScheduler + offsetof(Scheduler, current_),
        .runtime_first_coroutine = kScheduler + offsetof(Scheduler, registry_),
        .coroutine_next =
            offsetof(CoroutineBase, registry_link_) + offsetof(Link<CoroutineBase>, after),
        .coroutine_id = offsetof(CoroutineBase, id_),
        .coroutine_name = offsetof(CoroutineBase, name_) + offsetof(Name, text_),
        .coroutine_spawn_place = offsetof(CoroutineBase, spawn_place_),
        .coroutine_context = offsetof(CoroutineBase, context_),
        .coroutine_status = kWaker + offsetof(backend::Waker, status),
        .coroutine_place = kWaker + offsetof(backend::Waker, place),
        .coroutine_registration = kWaker + offsetof(backend::Waker, first_),
        .registration_next = offsetof(backend::Registration, next_),
        .registration_event = offsetof(backend::Registration, source_),
        .registration_rule = offsetof(backend::Registration, rule_),
        .event_kind = offsetof(Event, kind_),
        .event_serial = offsetof(Event, serial_),
        .context_registers = offsetof(StackContext, registers),
        .context_stack_low = offsetof(StackContext, stack_low),
        .context_stack_high = offsetof(StackContext, stack_high),
    };
  }

  static Link<Runtime>& link(Runtime& runtime) noexcept { return runtime.debugger_link_; }
};

#pragma GCC diagnostic pop

namespace {
constinit os::Mutex anchor_lock;
}  // namespace

}  // namespace fermata::detail

extern "C" {
[[gnu::used,
  gnu::visibility("default")]] constinit fermata::detail::DebuggerAnchor fermata_debugger_anchor =
    fermata::detail::DebuggerLayout::anchor();
}

namespace fermata::detail {

void show_to_debuggers(Runtime& runtime) noexcept {
  const std::lock_guard lock(anchor_lock);
  Runtime*& first = fermata_debugger_anchor.first_runtime;
  if (first != nullptr) DebuggerLayout::link(*first).before = &runtime;
  DebuggerLayout::link(runtime).after = first;
  first = &runtime;
}

void hide_from_debuggers(Runtime& runtime) noexcept {
  const std::lock_guard lock(anchor_lock);
  const Link<Runtime> link = DebuggerLayout::link(runtime);
  Runtime*& from_before = link.before != nullptr ? DebuggerLayout::link(*link.before).after
                                                 : fermata_debugger_anchor.first_runtime;
  from_before = link.after;
  if (link.after != nullptr) DebuggerLayout::link(*link.after).before = link.before;
}

}  // namespace fermata::detail
