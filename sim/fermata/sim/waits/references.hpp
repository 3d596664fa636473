// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who refers to an event, as far as can be counted.

#include <cstdint>
#include <typeinfo>

#include "fermata/core/waker.hpp"

namespace fermata::sim::detail {

/// Waits of coroutines: each has a reference to the event; other subscribers need not.
[[nodiscard]] inline std::uint32_t registrations_at(const Event& event) {
  std::uint32_t count = 0;
  event.callbacks().for_each([&](const backend::Callback& callback) {
    if (&typeid(callback) == &typeid(backend::Registration)) ++count;
  });
  return count;
}

/// Whether nobody could fire it but through those who wait for it.
[[nodiscard]] inline bool only_waiters_refer_to(const Event& event) {
  return event.kind() == backend::EventKind::Plain && event.owner() == nullptr &&
         !event.is_pointed_at() && event.ref_count() <= registrations_at(event);
}

}  // namespace fermata::sim::detail
