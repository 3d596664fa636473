// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a wait for several things is made, and what becomes of those that it did not need.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "fermata/base/time.hpp"

namespace fermata {

class Event;

/// The fate of items that have not ended when the wait is over, however it ended: with results,
/// with an error, or because the waiter was cancelled.
enum class ExitPolicy : std::uint8_t {
  Detach,         // they go on by themselves; how they end is not this wait's business
  Join,           // they are waited for; the token, the timeout and a cancellation end that as well
  CancelAndJoin,  // what can be cancelled is, and then waited for, come what may (CORE-AW-12)
};

struct AwaitOptions {
  /// Absent: forever. Zero: never parks. Throws Timeout when it has passed.
  std::optional<Duration> timeout;
  /// When this fires the wait ends with OperationCancelled. One that has fired already is looked at
  /// first, before the items.
  Event* token = nullptr;
  ExitPolicy on_exit = ExitPolicy::Detach;
  /// Whether results and errors come in the order of the items; otherwise in order of completion.
  bool preserve_order = false;
  /// How many items of a lazy source may be unfinished at a time; 0 for any number.
  std::size_t concurrency = 32;
};

}  // namespace fermata
