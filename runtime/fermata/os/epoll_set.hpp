// SPDX-License-Identifier: Apache-2.0
#pragma once

// Descriptors in an epoll of our own.
//
// Closed behind our back  The kernel forgets the registration, silently, unless a duplicate of the
//                         descriptor lives; then it fires forever and cannot be deleted. What
//                         fires and belongs to nobody is not told, and the set must be rebuilt.

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/reactor/poll.hpp"

namespace fermata::os {

class EpollSet {
 public:
  struct Found {
    int descriptor;
    PollMask mask;  // Disconnect also for what was not watched for it.
    std::uint32_t generation;
  };

  struct Look {
    std::span<Found> found;  // Valid until the next look.
    int code = 0;            // What kept it from looking, as errno says it.
  };

  /// Throws InputOutputError.
  EpollSet();
  EpollSet(const EpollSet&) = delete;
  EpollSet& operator=(const EpollSet&) = delete;
  ~EpollSet();

  /// Readable when anything is found.
  [[nodiscard]] int descriptor() const noexcept { return epoll_; }

  /// Watches `descriptor` for `mask`, which is not empty, instead of what it was watched for.
  /// Throws PollError; then it is not watched.
  void watch(int descriptor, PollMask mask);
  /// No effect when it is not watched.
  void unwatch(int descriptor) noexcept;
  /// Parks a descriptor that will soon be watched again: the kernel keeps its registration until it
  /// fires, which is not reported, or until unwatch().
  void rest(int descriptor) noexcept;
  /// Re-arms a parked descriptor. False, and the descriptor is not watched, when it is not parked
  /// or when its number means another file by now.
  [[nodiscard]] bool resume(int descriptor, PollMask mask) noexcept;

  /// Waits until something is ready, not longer than until `wake_by`, and not when that is past.
  Look look(Instant wake_by) noexcept;
  /// Whether the descriptor has been watched ever since `found`.
  [[nodiscard]] bool holds(const Found& found) const noexcept;

  [[nodiscard]] bool must_be_rebuilt() const noexcept { return strangers_; }
  /// Between two looks. descriptor() is another file then: whoever watches it must do so anew.
  void rebuild() noexcept;

 private:
  static constexpr int kEventsPerLook = 64;

  struct Entry {
    std::uint32_t generation = 0;
    PollMask mask = PollMask::None;
    bool rests = false;
  };

  [[nodiscard]] int wait(std::span<epoll_event> events, Instant wake_by) noexcept;
  [[nodiscard]] int control(int operation, int descriptor) noexcept;

  int epoll_;
  std::vector<Entry> entries_;  // By descriptor.
  std::array<Found, kEventsPerLook> found_;
  bool stale_ = false;  // There may be a registration that could not be deleted.
  bool strangers_ = false;
  bool waits_for_nanoseconds_ = true;  // Kernels before 5.11 do not.
};

}  // namespace fermata::os
