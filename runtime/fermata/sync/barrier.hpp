// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a number of parties wait for each other, phase after phase.
//
// Phase         Complete when every party has arrived. The last one runs the completion, then all
//               go on, in the order of their arrival.
// Broken        A party whose wait ends before its phase is complete, cancelled or timed out, will
//               not come: the barrier is broken, and the others get BrokenBarrier, at once or when
//               they arrive, until reset(). So nobody waits forever for who is gone. A party that
//               is cancelled when its phase is complete already has done its part.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "fermata/sync/primitive.hpp"

namespace fermata {

/// The barrier is broken because a party did not arrive; `previous` says why.
class BrokenBarrier : public Linkable<BrokenBarrier> {
 public:
  using Linkable::Linkable;
};

class Barrier final : private detail::Primitive {
 public:
  /// A function that runs when all parties have arrived. Must not suspend. When it throws the
  /// barrier is broken, and the last party gets the error.
  using Completion = std::function<void()>;

  /// A barrier for `parties` coroutines. Throws UsageError when there are none.
  explicit Barrier(std::size_t parties, Completion completion = {},
                   const SourcePlace& place = SourcePlace::current())
      : Barrier(Name(), parties, std::move(completion), place) {}
  Barrier(backend::GivenName name, std::size_t parties, Completion completion = {},
          const SourcePlace& place = SourcePlace::current());
  ~Barrier() override { retire(); }

  /// Arrives, and suspends until the others have. Throws BrokenBarrier; Timeout,
  /// OperationCancelled, Cancellation, which break it; not so a token that has fired before: then
  /// it has not arrived.
  void arrive_and_wait(const WaitOptions& options = {},
                       const SourcePlace& place = SourcePlace::current());

  /// Arrives for this phase, and leaves the barrier's parties. Never suspends. On a broken
  /// barrier only the number of parties changes. UsageError when there is none left.
  void arrive_and_drop();

  /// Repairs the barrier and begins a phase with all parties. Waiting parties get BrokenBarrier.
  void reset();

  [[nodiscard]] std::size_t parties() const noexcept { return asked().parties_; }
  /// Parties that have arrived in this phase.
  [[nodiscard]] std::size_t arrived() const noexcept { return asked().parties_ - pending_; }
  /// Phases completed.
  [[nodiscard]] std::uint64_t phases() const noexcept { return asked().phases_; }
  [[nodiscard]] bool is_broken() const noexcept { return asked().broken_ != nullptr; }

  /// "Barrier 'start' created at race.cpp:3, 1 of 3 parties arrived, waiting: 'a'"
  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  [[nodiscard]] const Barrier& asked() const noexcept {
    touched();
    return *this;
  }
  void require_parties() const;
  void complete();
  void break_up(const std::string& why, const std::exception_ptr& cause);

  std::size_t parties_;
  std::size_t pending_;
  std::uint64_t phases_ = 0;
  std::uint64_t round_ = 0;  // Changes whenever a phase ends, completed or not.
  std::exception_ptr broken_;
  Completion completion_;
};

}  // namespace fermata
