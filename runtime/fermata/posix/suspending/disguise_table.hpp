// SPDX-License-Identifier: Apache-2.0
#pragma once

// Descriptors that do not block, and look as if they do.
//
// Marks    By number, with the identity of the file behind it: one that was closed where nobody has
//          seen it does not pass its mark on to the next file of that number.
// Looks    Duplicates have one look, as they have one set of flags.
// Threads  Any. Looking something up takes no lock, so that handlers of signals may.
// Forks    The child gets its descriptors back as they look: blocking underneath. So are they in
//          the parent then, which has the same files, and goes on by polling. What posix_spawn()
//          starts gets them as they are: not blocking.

#include <pthread.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fermata/posix/kernel.hpp"
#include "fermata/system/mutex.hpp"

namespace fermata::posix {

class DisguiseTable final : public Disguises {
 public:
  /// The one of the process.
  [[nodiscard]] static DisguiseTable& instance() noexcept;

  constexpr DisguiseTable() noexcept = default;

  /// `descriptor`, which is new and does not block, has a disguise from now on. False when there is
  /// no room for it.
  bool add(int descriptor, bool looks_blocking) noexcept;
  /// `copy` is a new duplicate of `descriptor`, and has its look, if it has one.
  void share(int descriptor, int copy) noexcept;
  /// A duplicate of `descriptor` is on its way through a socket; its look is kept for who receives
  /// it. At most 64 are.
  void send(int descriptor) noexcept;
  /// `received` has come through a socket, and has the look that it was sent with.
  void adopt(int received) noexcept;
  /// Nothing is known of this number any more.
  void remove(int descriptor) noexcept;

  /// Whether it has a disguise, and is the file that it was given to.
  [[nodiscard]] bool has(int descriptor) noexcept;
  /// False when it has none.
  [[nodiscard]] bool looks_blocking(int descriptor) const noexcept;
  /// REQUIRES: it has a disguise.
  void set_look(int descriptor, bool blocking) noexcept;

  Kernel* kernel_of(int descriptor) noexcept override;
  Kernel* keeper_of(int descriptor) noexcept override;

 private:
  /// What duplicates have in common. Never freed: whoever looks at one that is used anew finds that
  /// it is another file.
  struct Look {
    std::atomic<dev_t> device = 0;
    std::atomic<ino_t> inode = 0;
    std::atomic<bool> blocking = false;
    bool writes = false;    // The end of a pipe that writes has the same file as the other one.
    std::size_t users = 0;  // Under the lock; so are all that follow.
    Look* next = nullptr;   // The next free one.
  };
  static constexpr std::size_t kPageSize = 1024;
  static constexpr std::size_t kPages = 1024;
  static constexpr std::size_t kMostSent = 64;
  using Slot = std::atomic<Look*>;
  using Page = std::array<Slot, kPageSize>;

  class Locked;

  [[nodiscard]] Look* look_of(int descriptor) const noexcept;
  [[nodiscard]] Slot* make_slot(int descriptor) noexcept;
  [[nodiscard]] Look* make_look() noexcept;
  void put(Slot& slot, Look* look) noexcept;
  [[nodiscard]] Slot* find_sent(int descriptor) noexcept;
  void show_all() noexcept;
  void begin() noexcept;
  static void lock_for_fork() noexcept;
  static void unlock_after_fork() noexcept;
  static void unlock_in_child() noexcept;

  std::array<std::atomic<Page*>, kPages> pages_ = {};
  os::Mutex mutex_;
  Look* free_ = nullptr;
  std::array<Slot, kMostSent> sent_ = {};  // Looks on their way.
  std::size_t next_sent_ = 0;
  std::size_t marked_ = 0;
  bool begun_ = false;
  std::atomic<bool> forks_ = false;  // While the fork of a thread has the lock.
  std::atomic<pthread_t> forking_ = 0;
};

}  // namespace fermata::posix
