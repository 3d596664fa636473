// SPDX-License-Identifier: Apache-2.0
#pragma once

// Descriptors that users bring, in an epoll of our own that libuv watches as one descriptor: libuv
// never learns of them, so that one closed behind our back cannot make it abort.
//
// Closed behind our back  The kernel forgets the registration, silently, unless a duplicate of the
//                         descriptor lives; then it fires for ever and cannot be deleted. So each
//                         is checked when armed and, a few in rotation, before a blocking wait; and
//                         when something fires that belongs to nobody, the epoll is built anew.

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "fermata/runtime/reactor/poll.hpp"
#include "fermata/runtime/uv/loop.hpp"

namespace fermata::uv::detail {

class Polls;

/// The file behind a descriptor's number.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

class DescriptorPoll final : public Poll {
 public:
  /// Throws PollError unless `descriptor` can be watched.
  DescriptorPoll(Polls& polls, int descriptor);

 private:
  friend class Polls;

  void arm_mask(PollMask mask) override;
  void disarm_mask() noexcept override;
  void close_backend() noexcept override;

  /// Whether the number still means the file that it meant when this was made.
  [[nodiscard]] bool same_file() const noexcept;
  void dispatch(std::uint32_t events);

  Polls& polls_;
  std::uint64_t id_ = 0;  // In the epoll; 0 when it is not there.
  FileIdentity file_;
  bool socket_ = false;
};

class Polls final : public fermata::Polls {
 public:
  explicit Polls(Loop& loop);
  ~Polls() override;

  /// Before a wait until `wake_by`: reports descriptors that were closed behind our back, and
  /// returns how long the wait may be at most.
  Instant check_some(Instant wake_by);

 private:
  friend class DescriptorPoll;

  Ref<Poll> make(int descriptor) override;
  void watch(DescriptorPoll& poll, std::uint32_t events);
  void unwatch(DescriptorPoll& poll) noexcept;
  void start_watch();
  void collect() noexcept;
  void rebuild() noexcept;

  Loop& loop_;
  int epoll_;
  uv_poll_t* watch_;  // Outlives this until libuv has closed it.
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, DescriptorPoll*> armed_;
  std::uint64_t last_checked_ = 0;
  bool stale_ = false;  // The epoll may hold a registration that could not be deleted.
};

}  // namespace fermata::uv::detail
