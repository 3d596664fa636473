// SPDX-License-Identifier: Apache-2.0
#pragma once

// An io_uring: what is submitted to the kernel, and what it has completed.
//
// Batches   What is started is submitted by the next look(), together with the wait: one system
//           call. Earlier only by submit(), and when there is no room for more.
// Threads   All of it belongs to the thread that made it.
// End       Nothing is forgotten: the destructor cancels what is in flight and waits for its end,
//           because the kernel writes to its memory until then.

#include <liburing.h>

#include <cstddef>
#include <utility>

#include "fermata/base/time.hpp"
#include "fermata/uring/operation.hpp"

namespace fermata::uring::detail {

class Ring {
 public:
  /// Throws InputOutputError.
  Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring();

  [[nodiscard]] io_uring* get() noexcept { return &ring_; }

  /// `prepare` fills in the io_uring_sqe* that it is given. REQUIRES: not in flight.
  template <class Prepare>
  void start(Operation& operation, Prepare prepare) noexcept {
    FERMATA_ASSERT(!operation.in_flight_);
    io_uring_sqe* const entry = next_entry();
    prepare(entry);
    io_uring_sqe_set_data(entry, &operation);
    operation.in_flight_ = true;
    operation.cancelled_ = false;
    ++in_flight_;
  }

  /// Submits what was started, without a wait. What the kernel refuses now leaves with the next
  /// look.
  void submit() noexcept { io_uring_submit(&ring_); }

  /// Asks for the end of an operation, which is told as its completion. No effect when it is not in
  /// flight, or was asked before.
  void cancel(Operation& operation) noexcept;

  /// How many operations have not come to their last completion.
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }

  /// How many completions the last look has told.
  [[nodiscard]] unsigned told() const noexcept { return told_; }

  /// Submits, and calls `begin` and then each operation that was completed; when none was, waits
  /// until `wake_by` at most, and not when that is past. Throws PollError when the system cannot
  /// wait.
  template <class Begin>
  void look(Instant wake_by, Begin begin) {
    enter(wake_by);
    // What is completed meanwhile has its turn in the next look.
    unsigned left = told_ = io_uring_cq_ready(&ring_);
    if (left > 0) begin();
    for (; left > 0; --left) tell_next();
  }

 private:
  void open();
  [[nodiscard]] io_uring_sqe* next_entry() noexcept;
  void enter(Instant wake_by);
  /// Whether the kernel has completions that only a call brings.
  [[nodiscard]] bool has_more_inside() const noexcept;
  void tell_next() noexcept;
  /// Counts a completion, and answers whose it is; null for nobody's.
  Operation* take_next(int& result, unsigned& flags) noexcept;
  void drain() noexcept;

  io_uring ring_ = {};
  std::size_t in_flight_ = 0;
  unsigned told_ = 0;
};

}  // namespace fermata::uring::detail
