// SPDX-License-Identifier: Apache-2.0
#include "fermata/uring/ring.hpp"

#include <algorithm>
#include <cerrno>

#include "fermata/base/error.hpp"
#include "fermata/os/wait_limit.hpp"

namespace fermata::uring::detail {

namespace {

constexpr unsigned kEntries = 1024;
constexpr unsigned kCompletions = 4096;
/// How long the end waits for operations that were cancelled before it cancels them again.
constexpr Duration kDrainRound = std::chrono::seconds(1);

/// The ways to set it up, best first: who completes what, and when.
constexpr unsigned kWays[] = {
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
    IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
    0,
};

__kernel_timespec to_kernel(std::int64_t nanoseconds) noexcept {
  return {.tv_sec = nanoseconds / 1'000'000'000, .tv_nsec = nanoseconds % 1'000'000'000};
}

}  // namespace

Ring::Ring() {
  open();
  // Spares each call the look-up of the descriptor; it works without.
  static_cast<void>(io_uring_register_ring_fd(&ring_));
  static_cast<void>(io_uring_ring_dontfork(&ring_));
}

void Ring::open() {
  int code = -EINVAL;
  for (const unsigned way : kWays) {
    io_uring_params parameters = {};
    parameters.flags = way | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
    parameters.cq_entries = kCompletions;
    code = io_uring_queue_init_params(kEntries, &ring_, &parameters);
    if (code == 0) return;
    if (code != -EINVAL) break;  // Not the flags.
  }
  throw InputOutputError("create an io_uring", -code);
}

Ring::~Ring() {
  drain();
  io_uring_queue_exit(&ring_);
}

io_uring_sqe* Ring::next_entry() noexcept {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  while (entry == nullptr) {  // Full.
    submit();
    entry = io_uring_get_sqe(&ring_);
  }
  return entry;
}

void Ring::cancel(Operation& operation) noexcept {
  if (!operation.in_flight_ || std::exchange(operation.cancelled_, true)) return;
  io_uring_sqe* const entry = next_entry();
  io_uring_prep_cancel(entry, &operation, 0);
  io_uring_sqe_set_data(entry, nullptr);
  entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
}

bool Ring::has_more_inside() const noexcept {
  const unsigned flags = IO_URING_READ_ONCE(*ring_.sq.kflags);
  return (flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0;
}

void Ring::enter(Instant wake_by) {
  const bool endless = wake_by == Instant::never();
  const std::int64_t nanoseconds = endless ? 1 : os::nanoseconds_until(wake_by);
  int code = 0;
  if (nanoseconds == 0 || io_uring_cq_ready(&ring_) > 0) {
    if (io_uring_sq_ready(&ring_) == 0 && !has_more_inside()) return;
    code = io_uring_submit_and_get_events(&ring_);
  } else {
    __kernel_timespec limit = to_kernel(nanoseconds);
    io_uring_cqe* first = nullptr;
    code = io_uring_submit_and_wait_timeout(&ring_, &first, 1, endless ? nullptr : &limit, nullptr);
  }
  // EBUSY and EAGAIN: what is completed has to be taken first, or memory is short for a while.
  constexpr int kHarmless[] = {ETIME, EINTR, EBUSY, EAGAIN};
  if (code < 0 &&
      std::find(std::begin(kHarmless), std::end(kHarmless), -code) == std::end(kHarmless)) {
    throw PollError("wait for an io_uring", -code);
  }
}

Operation* Ring::take_next(int& result, unsigned& flags) noexcept {
  io_uring_cqe* entry = nullptr;
  if (io_uring_peek_cqe(&ring_, &entry) != 0) return nullptr;
  auto* const operation = static_cast<Operation*>(io_uring_cqe_get_data(entry));
  result = entry->res;
  flags = entry->flags;
  io_uring_cqe_seen(&ring_, entry);
  if (operation != nullptr && (flags & IORING_CQE_F_MORE) == 0) {
    FERMATA_ASSERT(operation->in_flight_);
    FERMATA_ASSERT(in_flight_ > 0);
    operation->in_flight_ = false;
    --in_flight_;
  }
  return operation;
}

void Ring::tell_next() noexcept {
  int result = 0;
  unsigned flags = 0;
  if (Operation* const operation = take_next(result, flags)) operation->completed(result, flags);
}

// All of them wait for sockets or descriptors, which the kernel lets go of when it is asked.
void Ring::drain() noexcept {
  Instant cancel_at = os::now();
  while (in_flight_ > 0) {
    if (os::now() >= cancel_at) {
      io_uring_sqe* const entry = next_entry();
      io_uring_prep_cancel(entry, nullptr, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
      io_uring_sqe_set_data(entry, nullptr);
      cancel_at = os::now() + kDrainRound;
    }
    enter(cancel_at);
    int result = 0;
    unsigned flags = 0;
    for (unsigned left = io_uring_cq_ready(&ring_); left > 0; --left) take_next(result, flags);
  }
  FERMATA_ASSERT(in_flight_ == 0);
}

}  // namespace fermata::uring::detail
