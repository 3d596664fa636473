// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/signal_registry.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <mutex>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/system/mutex.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::detail {

namespace {

/// Where the handler finds a mailbox. Slots are used again but never freed, so that a handler may
/// walk them at any time.
struct Slot {
  std::atomic<SignalMailbox*> mailbox = nullptr;
  Slot* next = nullptr;
};

struct Disposition {
  int watchers = 0;
  struct sigaction before = {};
};

os::Mutex table_mutex;  // Guards what the handler does not look at.
std::array<Disposition, NSIG> dispositions;
std::atomic<Slot*> slots = nullptr;
std::atomic<int> handlers_running = 0;

void handle(int signum) {
  const int code = errno;
  handlers_running.fetch_add(1);
  for (Slot* slot = slots.load(); slot != nullptr; slot = slot->next) {
    if (SignalMailbox* mailbox = slot->mailbox.load()) mailbox->raise(signum);
  }
  handlers_running.fetch_sub(1);
  errno = code;
}

void enter_slot(SignalMailbox& mailbox) {
  const std::lock_guard lock(table_mutex);
  for (Slot* slot = slots.load(); slot != nullptr; slot = slot->next) {
    if (slot->mailbox.load() == nullptr) return slot->mailbox.store(&mailbox);
  }
  auto* slot = new Slot;
  slot->mailbox.store(&mailbox);
  slot->next = slots.load();
  slots.store(slot);
}

/// When this returns, no handler uses the mailbox any more.
void leave_slot(const SignalMailbox& mailbox) noexcept {
  const std::lock_guard lock(table_mutex);
  for (Slot* slot = slots.load(); slot != nullptr; slot = slot->next) {
    if (slot->mailbox.load() == &mailbox) slot->mailbox.store(nullptr);
  }
  while (handlers_running.load() != 0) {
  }
}

}  // namespace

void ignore_broken_pipes() noexcept {
  const std::lock_guard lock(table_mutex);
  struct sigaction action = {};
  if (os::kernel.sigaction(SIGPIPE, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  action.sa_handler = SIG_IGN;
  os::kernel.sigaction(SIGPIPE, &action, nullptr);
}

SignalMailbox::SignalMailbox(Wake wake, void* context) : wake_(wake), context_(context) {
  enter_slot(*this);
}

SignalMailbox::~SignalMailbox() {
  for (int signum = 1; signum < kSignals; ++signum) {
    if (watched_[static_cast<std::size_t>(signum)].load()) unwatch(signum);
  }
  leave_slot(*this);
}

void SignalMailbox::watch(int signum) {
  const auto index = static_cast<std::size_t>(signum);
  const std::lock_guard lock(table_mutex);
  FERMATA_ASSERT(index < watched_.size());
  FERMATA_ASSERT(!watched_[index].load());
  Disposition& disposition = dispositions[index];
  watched_[index].store(true);
  if (disposition.watchers == 0) {
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    if (os::kernel.sigaction(signum, &action, &disposition.before) != 0) {
      watched_[index].store(false);
      throw InputOutputError(fmt::format("handle signal {}", signum), errno);
    }
  }
  ++disposition.watchers;
}

void SignalMailbox::unwatch(int signum) noexcept {
  const auto index = static_cast<std::size_t>(signum);
  const std::lock_guard lock(table_mutex);
  FERMATA_ASSERT(index < watched_.size());
  FERMATA_ASSERT(watched_[index].load());
  Disposition& disposition = dispositions[index];
  FERMATA_ASSERT(disposition.watchers > 0);
  watched_[index].store(false);
  raised_[index].store(false);
  if (--disposition.watchers == 0) os::kernel.sigaction(signum, &disposition.before, nullptr);
}

void SignalMailbox::raise(int signum) noexcept {
  const auto index = static_cast<std::size_t>(signum);
  if (!watched_[index].load()) return;
  raised_[index].store(true);
  any_raised_.store(true);
  wake_(context_);
}

}  // namespace fermata::detail
