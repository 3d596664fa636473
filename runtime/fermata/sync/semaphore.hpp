// SPDX-License-Identifier: Apache-2.0
#pragma once

// A number of permits.
//
// Order         First come, first served, also for several permits at once: while the oldest
//               waiter wants more than there are, nobody behind it gets any.
// Promise       Permits given to a waiter are its own from the release on. When it is cancelled
//               before it runs they go to the next; none is ever lost.
// Cost          acquire() that finds its permits and release() neither suspend nor allocate.

#include <cstddef>
#include <string>
#include <utility>

#include "fermata/sync/primitive.hpp"

namespace fermata {

class Semaphore final : private detail::Primitive {
 public:
  /// A semaphore with `permits` permits at first. There is no upper limit: release() may add more.
  explicit Semaphore(std::size_t permits, const SourcePlace& place = SourcePlace::current())
      : Semaphore(Name(), permits, place) {}
  Semaphore(backend::GivenName name, std::size_t permits,
            const SourcePlace& place = SourcePlace::current())
      : Primitive("Semaphore", std::move(name), place), available_(permits) {}
  ~Semaphore() override { retire(); }

  /// Takes `count` permits, all at once. May suspend. Throws Timeout, OperationCancelled,
  /// Cancellation: then none is taken. UsageError when `count` is zero.
  void acquire(std::size_t count = 1, const WaitOptions& options = {},
               const SourcePlace& place = SourcePlace::current());

  /// Takes permits without suspending; false when there are too few, or when another coroutine is
  /// in line.
  [[nodiscard]] bool try_acquire(std::size_t count = 1,
                                 const SourcePlace& place = SourcePlace::current());

  /// Adds permits; any coroutine may do so. Never suspends. UsageError when `count` is zero or the
  /// sum overflows.
  void release(std::size_t count = 1, const SourcePlace& place = SourcePlace::current());

  /// Permits that are neither taken nor reserved.
  [[nodiscard]] std::size_t available() const noexcept {
    touched();
    return available_;
  }

  /// "Semaphore 'slots' created at pool.cpp:8, 2 available, waiting: 'a'"
  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  class Request;

  [[nodiscard]] bool can_take(std::size_t count) const noexcept {
    touched();
    return count <= available_ && !line_.can_grant();
  }
  void require_some(const char* operation, std::size_t count) const;
  void serve();

  std::size_t available_;
};

}  // namespace fermata
