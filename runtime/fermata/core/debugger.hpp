// SPDX-License-Identifier: Apache-2.0
#pragma once

// What gdb's extension finds in a process or in its core: every runtime, and where in the objects
// is what it shows. It needs neither debug information nor a thread that can run code.
//
// Symbol    fermata_debugger_anchor, of C; read by runtime/gdb/fermata.py.
// Version   Grows with every change of DebuggerAnchor; the extension refuses what it does not know.
// Cost      A runtime is listed when it is made and when it goes, under a lock. Nothing else.

#include <cstdint>

namespace fermata {
class Runtime;
}

namespace fermata::detail {

/// All members are eight bytes wide. Offsets are in bytes, from the object that their name begins
/// with.
struct DebuggerAnchor {
  char magic[16];  // "fermata anchor".
  std::uint64_t version;
  Runtime* first_runtime;
  std::uint64_t runtime_next;
  std::uint64_t runtime_name;  // A std::string.
  std::uint64_t runtime_current_coroutine;
  std::uint64_t runtime_first_coroutine;
  std::uint64_t coroutine_next;
  std::uint64_t coroutine_id;
  std::uint64_t coroutine_name;         // A pointer to its text, which ends with a null.
  std::uint64_t coroutine_spawn_place;  // A SourcePlace: file, function, line.
  std::uint64_t coroutine_context;      // A pointer; null before the start.
  std::uint64_t coroutine_status;       // A WakerStatus, one byte.
  std::uint64_t coroutine_place;  // A pointer to a SourcePlace; null while it is not suspended.
  std::uint64_t coroutine_registration;  // A pointer to the first.
  std::uint64_t registration_next;
  std::uint64_t registration_event;
  std::uint64_t registration_rule;  // A WakeRule, one byte.
  std::uint64_t event_kind;         // An EventKind, one byte.
  std::uint64_t event_serial;
  std::uint64_t context_registers;  // A pointer to what jump_fcontext has saved.
  std::uint64_t context_stack_low;
  std::uint64_t context_stack_high;

  // Set by fermata/sync before main(), in programs that have it; else 0.
  std::uint64_t primitive_name = 0;  // A pointer to its text, as of a coroutine.
  std::uint64_t mutex_holder = 0;    // The id of the coroutine; 0 when nobody holds it.
  std::uint64_t channel_name = 0;
};

/// From now on debuggers see `runtime`; from any thread.
void show_to_debuggers(Runtime& runtime) noexcept;
void hide_from_debuggers(Runtime& runtime) noexcept;

}  // namespace fermata::detail

extern "C" {
extern fermata::detail::DebuggerAnchor fermata_debugger_anchor;
}
