// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the files of the pool share: its texts, and what must be given back whatever happens.

#include <cstdint>
#include <exception>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/pool_core.hpp"

namespace fermata::detail {

inline constexpr const char* kPoolIsClosed = "Pool is closed";
inline constexpr const char* kNothingMade = "Failed to create pool resource";
inline constexpr const char* kNotAccepted = "Resource validation failed";
inline constexpr const char* kServiceIsUnavailable =
    "Service is unavailable (circuit breaker is open)";

/// One of the active, counted already. Unless it is kept, it ends here, and its place is the next
/// waiter's.
class PoolCore::Claim {
 public:
  explicit Claim(PoolCore& pool) noexcept : pool_(&pool) {}
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    if (pool_ == nullptr) return;
    FERMATA_ASSERT(pool_->active_ > 0);
    --pool_->active_;
    pool_->wake_waiters();
  }
  void keep() noexcept { pool_ = nullptr; }

 private:
  PoolCore* pool_;
};

/// Being let in while the pool recovers, until there is a resource that stands for it.
class PoolCore::Probe {
 public:
  Probe(PoolCore& pool, std::uint64_t probation) noexcept : pool_(pool), probation_(probation) {}
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  ~Probe() { pool_.return_probe(probation_); }

  [[nodiscard]] std::uint64_t probation() const noexcept { return probation_; }
  [[nodiscard]] std::uint64_t keep() noexcept { return std::exchange(probation_, 0); }

 private:
  PoolCore& pool_;
  std::uint64_t probation_;
};

/// Whether an error ends its coroutine: it is thrown on, whatever else is made of it.
[[nodiscard]] inline bool is_stop(const std::exception_ptr& error) noexcept {
  return is_cancellation(error) || is_forced_unwind(error);
}

/// Combines two errors that both have happened; either may be null.
[[nodiscard]] inline std::exception_ptr both(const std::exception_ptr& first,
                                             const std::exception_ptr& later) {
  if (is_forced_unwind(later)) return later;
  return is_forced_unwind(first) ? first : link_previous(first, later);
}

/// Calls `function` and returns what it throws, or null. May suspend if `function` does.
template <class F>
[[nodiscard]] std::exception_ptr error_of(F&& function) {
  try {
    function();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

/// Runs `function` so that the cancellation which the caller is in already does not cut it short.
/// One that arrives later does, in `function` itself.
template <class F>
void shielded(const Runtime& runtime, F&& function) {
  const CoroutineBase* const caller = runtime.current();
  const bool may_suspend = caller != nullptr && !runtime.scheduler().in_scheduler_context() &&
                           runtime.kernel().no_suspend == 0;
  if (may_suspend && std::uncaught_exceptions() == 0 && caller->is_cancellation_requested()) {
    protect(function);
  } else {
    function();
  }
}

}  // namespace fermata::detail
