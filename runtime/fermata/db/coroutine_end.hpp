// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "fermata/core/coroutine.hpp"

namespace fermata::db::detail {

/// Wants to know when coroutines end.
class EndListener {
 public:
  /// The coroutine has ended, in whatever way. Neither suspends nor throws.
  virtual void coroutine_ended(std::uint64_t id) noexcept = 0;

 protected:
  ~EndListener() = default;
};

/// Once, unless the listener is gone by then (DB-14).
void listen_to_end(CoroutineBase& coroutine, std::weak_ptr<EndListener> listener);

}  // namespace fermata::db::detail
