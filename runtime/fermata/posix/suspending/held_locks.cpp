// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/suspending/held_locks.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::posix {

namespace {

constinit thread_local HeldLocks* all_of_thread = nullptr;
constinit thread_local HeldLocks* current = nullptr;

/// The library that `address` is in, or the program.
std::string file_of(const void* address) {
  Dl_info found = {};
  const bool known = ::dladdr(address, &found) != 0 && found.dli_fname != nullptr;
  const std::string_view path = known ? found.dli_fname : "foreign code";
  return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace

class HeldLocks::Watch final : public LockWatch {
 public:
  void before_lock(const pthread_mutex_t& mutex, const void* from) noexcept override {
    for (const HeldLocks* each = all_of_thread; each != nullptr; each = each->next_) {
      if (each != current && each->holds(mutex)) give_up(*each, from);
    }
  }

  void locked(const pthread_mutex_t& mutex) noexcept override {
    FERMATA_ASSERT(current == nullptr || !current->holder_.empty());
    if (current != nullptr) current->held_.push_back({&mutex, mutex.__data.__owner});
  }

  void before_unlock(const pthread_mutex_t& mutex) noexcept override {
    for (HeldLocks* each = all_of_thread; each != nullptr; each = each->next_) {
      const auto last = std::find_if(each->held_.rbegin(), each->held_.rend(),
                                     [&](const Held& held) { return held.mutex == &mutex; });
      if (last == each->held_.rend()) continue;
      each->held_.erase(std::next(last).base());
      return;
    }
  }

 private:
  [[noreturn]] static void give_up(const HeldLocks& holder, const void* from) {
    std::fprintf(stderr,
                 "fermata: %s locks a mutex in %s that %s holds, which waits in suspending at %s "
                 "on the same thread: both would wait forever\n",
                 current != nullptr ? current->holder_.c_str() : "a coroutine outside of a scope",
                 file_of(from).c_str(), holder.holder_.c_str(), holder.place_.text().c_str());
    std::abort();
  }
};

constinit HeldLocks::Watch HeldLocks::watch_;

HeldLocks::HeldLocks(std::string holder, const SourcePlace& place)
    : holder_(std::move(holder)), place_(place), next_(std::exchange(all_of_thread, this)) {
  lock_watch = &watch_;
}

// Scopes end in any order.
HeldLocks::~HeldLocks() {
  FERMATA_ASSERT(current != this);
  HeldLocks** place = &all_of_thread;
  while (*place != this) place = &(*place)->next_;
  *place = next_;
  if (all_of_thread == nullptr) lock_watch = nullptr;
}

HeldLocks* HeldLocks::enter(HeldLocks* locks) noexcept { return std::exchange(current, locks); }

bool HeldLocks::holds(const pthread_mutex_t& mutex) const noexcept {
  return std::any_of(held_.begin(), held_.end(), [&](const Held& each) {
    return each.mutex == &mutex && each.owner == mutex.__data.__owner;
  });
}

}  // namespace fermata::posix
