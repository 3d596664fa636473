// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/suspending/disguise_table.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include <new>

#include "fermata/base/assert.hpp"
#include "fermata/os/no_signals.hpp"
#include "fermata/posix/suspending/system_kernel.hpp"
#include "fermata/posix/suspending/waiter.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::posix {

namespace {

constinit DisguiseTable the_table;
constinit BlockingWaiter blocking_waiter;
constinit SystemKernel blocking_kernel(blocking_waiter);

}  // namespace

/// No handler of a signal runs in the thread that has it, which may need it. Handlers of a fork may
/// open and close descriptors while the fork has it, in its thread.
class DisguiseTable::Locked {
 public:
  explicit Locked(DisguiseTable& locked) noexcept
      : locked_(locked),
        forks_(locked.forks_ && pthread_equal(locked.forking_, os::kernel.pthread_self())) {
    if (!forks_) locked.mutex_.lock();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() {
    if (!forks_) locked_.mutex_.unlock();
  }

 private:
  os::NoSignals no_signals_;
  DisguiseTable& locked_;
  bool forks_;
};

DisguiseTable& DisguiseTable::instance() noexcept { return the_table; }

DisguiseTable::Look* DisguiseTable::look_of(int descriptor) const noexcept {
  const auto number = static_cast<std::size_t>(descriptor);
  if (descriptor < 0 || number >= kPages * kPageSize) return nullptr;
  const Page* const page = pages_[number / kPageSize].load(std::memory_order_acquire);
  return page == nullptr ? nullptr : (*page)[number % kPageSize].load(std::memory_order_acquire);
}

DisguiseTable::Slot* DisguiseTable::make_slot(int descriptor) noexcept {
  const auto number = static_cast<std::size_t>(descriptor);
  if (descriptor < 0 || number >= kPages * kPageSize) return nullptr;
  std::atomic<Page*>& page = pages_[number / kPageSize];
  if (page.load(std::memory_order_relaxed) == nullptr) {
    page.store(new (std::nothrow) Page{}, std::memory_order_release);
  }
  Page* const made = page.load(std::memory_order_relaxed);
  return made == nullptr ? nullptr : &(*made)[number % kPageSize];
}

DisguiseTable::Look* DisguiseTable::make_look() noexcept {
  if (free_ == nullptr) return new (std::nothrow) Look;
  Look* const taken = free_;
  free_ = taken->next;
  FERMATA_ASSERT(taken->users == 0);
  return taken;
}

void DisguiseTable::put(Slot& slot, Look* look) noexcept {
  FERMATA_ASSERT(begun_);
  Look* const before = slot.load(std::memory_order_relaxed);
  if (look != nullptr) ++look->users;
  slot.store(look, std::memory_order_release);
  FERMATA_ASSERT(before == nullptr || marked_ > 0);
  if (look != nullptr) ++marked_;
  if (before != nullptr) --marked_;
  disguises.store(marked_ > 0 ? this : nullptr, std::memory_order_release);
  if (before == nullptr) return;
  FERMATA_ASSERT(before->users > 0);
  if (--before->users > 0) return;
  before->next = free_;
  free_ = before;
}

// Once; with the lock.
void DisguiseTable::begin() noexcept {
  if (begun_) return;
  begun_ = true;
  pthread_atfork(&lock_for_fork, &unlock_after_fork, &unlock_in_child);
}

bool DisguiseTable::add(int descriptor, bool looks_blocking) noexcept {
  struct stat status = {};
  if (os::kernel.fstat(descriptor, &status) != 0) return false;
  const int flags = os::kernel.fcntl(descriptor, F_GETFL);
  const Locked lock(*this);
  begin();
  Slot* const slot = make_slot(descriptor);
  if (slot == nullptr) return false;
  Look* const look = make_look();
  if (look == nullptr) return false;
  look->device.store(status.st_dev, std::memory_order_relaxed);
  look->inode.store(status.st_ino, std::memory_order_relaxed);
  look->blocking.store(looks_blocking, std::memory_order_relaxed);
  look->writes = (flags & O_ACCMODE) == O_WRONLY;
  put(*slot, look);
  return true;
}

void DisguiseTable::share(int descriptor, int copy) noexcept {
  Look* const look = has(descriptor) ? look_of(descriptor) : nullptr;
  if (look == nullptr) return remove(copy);
  const Locked lock(*this);
  if (Slot* const slot = make_slot(copy)) put(*slot, look);
}

void DisguiseTable::remove(int descriptor) noexcept {
  if (look_of(descriptor) == nullptr) return;
  const Locked lock(*this);
  if (Slot* const slot = make_slot(descriptor)) put(*slot, nullptr);
}

void DisguiseTable::send(int descriptor) noexcept {
  Look* const look = has(descriptor) ? look_of(descriptor) : nullptr;
  if (look == nullptr) return;
  const Locked lock(*this);
  put(sent_[next_sent_++ % kMostSent], look);
}

void DisguiseTable::adopt(int received) noexcept {
  remove(received);
  const Locked lock(*this);
  Slot* const sent = find_sent(received);
  if (sent == nullptr) return;
  if (Slot* const slot = make_slot(received)) put(*slot, sent->load(std::memory_order_relaxed));
  put(*sent, nullptr);
}

// With the lock.
DisguiseTable::Slot* DisguiseTable::find_sent(int descriptor) noexcept {
  struct stat status = {};
  if (os::kernel.fstat(descriptor, &status) != 0) return nullptr;
  const bool writes = (os::kernel.fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_WRONLY;
  for (Slot& slot : sent_) {
    const Look* const look = slot.load(std::memory_order_relaxed);
    if (look != nullptr && look->device == status.st_dev && look->inode == status.st_ino &&
        look->writes == writes) {
      return &slot;
    }
  }
  return nullptr;
}

bool DisguiseTable::has(int descriptor) noexcept {
  const Look* const look = look_of(descriptor);
  if (look == nullptr) return false;
  struct stat status = {};
  const bool same = os::kernel.fstat(descriptor, &status) == 0 &&
                    look->device.load(std::memory_order_relaxed) == status.st_dev &&
                    look->inode.load(std::memory_order_relaxed) == status.st_ino;
  const int flags = same ? os::kernel.fcntl(descriptor, F_GETFL) : -1;
  if (flags >= 0 && (flags & O_NONBLOCK) != 0) return true;
  remove(descriptor);
  return false;
}

bool DisguiseTable::looks_blocking(int descriptor) const noexcept {
  const Look* const look = look_of(descriptor);
  return look != nullptr && look->blocking.load(std::memory_order_relaxed);
}

void DisguiseTable::set_look(int descriptor, bool blocking) noexcept {
  Look* const look = look_of(descriptor);
  FERMATA_ASSERT(look != nullptr);
  look->blocking.store(blocking, std::memory_order_relaxed);
}

Kernel* DisguiseTable::kernel_of(int descriptor) noexcept {
  return looks_blocking(descriptor) ? &blocking_kernel : nullptr;
}

Kernel* DisguiseTable::keeper_of(int descriptor) noexcept {
  return look_of(descriptor) != nullptr ? &blocking_kernel : nullptr;
}

// --- forks ---

void DisguiseTable::lock_for_fork() noexcept {
  the_table.mutex_.lock();
  the_table.forking_ = os::kernel.pthread_self();
  the_table.forks_ = true;
}

void DisguiseTable::unlock_after_fork() noexcept {
  the_table.forks_ = false;
  the_table.mutex_.unlock();
}

void DisguiseTable::unlock_in_child() noexcept {
  the_table.show_all();
  unlock_after_fork();
}

// With the lock. A number that means another file by now is left alone.
void DisguiseTable::show_all() noexcept {
  for (std::size_t number = 0; number < kPages * kPageSize; ++number) {
    Page* const page = pages_[number / kPageSize].load(std::memory_order_relaxed);
    if (page == nullptr) {
      number += kPageSize - 1;
      continue;
    }
    Slot& slot = (*page)[number % kPageSize];
    Look* const look = slot.load(std::memory_order_relaxed);
    if (look == nullptr) continue;
    const int descriptor = static_cast<int>(number);
    struct stat status = {};
    const bool same = os::kernel.fstat(descriptor, &status) == 0 && look->device == status.st_dev &&
                      look->inode == status.st_ino;
    const int flags = same ? os::kernel.fcntl(descriptor, F_GETFL) : -1;
    if (flags >= 0 && look->blocking) {
      os::kernel.fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK);
    }
    put(slot, nullptr);
  }
}

}  // namespace fermata::posix
