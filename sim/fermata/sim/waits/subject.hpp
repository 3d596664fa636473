// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/base/assert.hpp"
#include "fermata/core/coroutine.hpp"

namespace fermata::sim::detail {

/// The coroutine that `event` is. REQUIRES: it is one.
inline const CoroutineBase& as_coroutine(const Event& event) noexcept {
  FERMATA_ASSERT(event.kind() == backend::EventKind::Coroutine);
  return static_cast<const CoroutineBase&>(event);
}

}  // namespace fermata::sim::detail
