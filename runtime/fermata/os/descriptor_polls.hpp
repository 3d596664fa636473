// SPDX-License-Identifier: Apache-2.0
#pragma once

// Descriptors that users bring, whoever watches them.
//
// Closed behind our back  Nobody is told. So each is checked when it is armed, and a few, in
//                         rotation, before a blocking wait, at most every ten milliseconds.

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/reactor/poll.hpp"

namespace fermata::os {

class DescriptorPolls;

/// The file behind a descriptor's number.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

class DescriptorPoll : public backend::Poll {
 public:
  /// It is ready, or seems to be. A socket that is readable and has nothing is not told; when the
  /// number means another file, what is ready is somebody else's, and this one is gone.
  void dispatch(PollMask told);
  [[nodiscard]] bool same_file() const noexcept override;

 protected:
  /// Throws PollError unless `descriptor` can be watched.
  DescriptorPoll(DescriptorPolls& polls, int descriptor);

  void close_backend() noexcept override;

 private:
  friend class DescriptorPolls;

  // --- hooks ---

  /// Watch for `mask`, which is not empty, instead of what was watched before. Throws PollError.
  virtual void watch(PollMask mask) = 0;
  virtual void unwatch() noexcept = 0;
  /// Resumes the watch for what was watched before, where that is cheaper than watch(). False when
  /// nothing was, or when the descriptor's number means another file by now.
  [[nodiscard]] virtual bool watch_again(PollMask) noexcept { return false; }
  /// The part of `told` that the descriptor is ready for, according to the backend.
  [[nodiscard]] virtual PollMask look(PollMask told) const noexcept { return told; }

  void arm_mask(PollMask mask) override;
  void disarm_mask() noexcept override;

  DescriptorPolls& polls_;
  FileIdentity file_;
  bool socket_ = false;
};

class DescriptorPolls : public backend::Polls {
 public:
  /// Before a wait until `wake_by`: reports descriptors that were closed behind our back, and
  /// returns how long the wait may be at most.
  Instant check_some(Instant wake_by);

 protected:
  using backend::Polls::Polls;

  /// Null for none.
  [[nodiscard]] DescriptorPoll* armed(int descriptor) const noexcept;

  // --- hook ---

  /// One was closed behind our back, and is told next.
  virtual void before_report() noexcept = 0;

 private:
  friend class DescriptorPoll;

  /// `poll` may be null.
  void set_armed(int descriptor, DescriptorPoll* poll);
  /// REQUIRES: one is armed.
  [[nodiscard]] DescriptorPoll& next_to_check() noexcept;

  std::vector<DescriptorPoll*> armed_;  // By descriptor; null for none.
  std::size_t armed_count_ = 0;
  std::size_t last_checked_ = 0;
  Instant next_check_;  // Not before.
};

}  // namespace fermata::os
