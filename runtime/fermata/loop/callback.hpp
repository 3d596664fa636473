// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a loop calls: ids, kinds, and the functions themselves.

#include <cstdint>
#include <optional>
#include <string>

#include "fermata/base/source_place.hpp"
#include "fermata/base/time.hpp"
#include "fermata/loop/function.hpp"

namespace fermata::loop {

/// Names a callback of one loop: 1, 2, 3, ... in the order of registration, never reused.
using CallbackId = std::uint64_t;

enum class CallbackKind : std::uint8_t {
  Defer,     // once, in the next tick
  Delay,     // once, when time has passed
  Repeat,    // again and again, when time has passed
  Readable,  // in each tick in which its descriptor is readable, or has an error
  Writable,  // likewise
  Signal,    // in each tick after which its signal has come
  Notice,    // in each tick after which Loop::notice was called for it
};

/// "defer", "delay", ...
[[nodiscard]] const char* to_string(CallbackKind kind) noexcept;

/// Work without an id. Destroyed as soon as it has run, before the next one does.
using Task = Function<void()>;
/// A function that is called with the id; callables without parameters are accepted.
using TimedFunction = Function<void(CallbackId)>;
/// A function that is called with the id and the descriptor or signal; callables without
/// parameters, or with the id only, are accepted.
using SourceFunction = Function<void(CallbackId, int)>;

/// What a loop knows about a callback.
struct CallbackInfo {
  CallbackId id = 0;
  CallbackKind kind = CallbackKind::Defer;
  bool enabled = false;
  bool referenced = false;
  /// A callback of this is suspended: meanwhile it is not called again.
  bool masked = false;
  /// The descriptor or signal of a readable, writable or signal callback; -1 for others.
  int source = -1;
  /// The interval of a repeat, or the span of a delay; zero for others.
  Duration span = Duration::zero();
  SourcePlace registered_at;

  /// "repeat callback 7 registered at file:line (function)".
  [[nodiscard]] std::string text() const;
};

}  // namespace fermata::loop
