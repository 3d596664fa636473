// SPDX-License-Identifier: Apache-2.0

// How calls begin and wait, and what tells of readiness.

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/allowed_functions.hpp"
#include "fermata/sim/posix/clock.hpp"
#include "fermata/sim/posix/epoll.hpp"
#include "fermata/sim/posix/event_counter.hpp"
#include "fermata/sim/posix/kernel_calls.hpp"
#include "fermata/sim/posix/timer_descriptor.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::uint64_t kMostInVain = 1000;
constexpr unsigned kBusy = 1000;
constexpr Duration kBusyTime = std::chrono::microseconds(10);

}  // namespace

int SimKernel::enter(const char* call) {
  if (machine_.over() || machine_.is_down()) {
    ++calls_after_end_;
    return -ECANCELED;
  }
  if (threads_.is_ending()) return -ECANCELED;
  if (&machine_.host() != &machine_) {
    machine_.fail(fmt::format("{}() is not served in a thread of a simulated program", call));
    return -ENOSYS;
  }
  threads_.switch_point(call);
  signals_.deliver();
  return 0;
}

void SimKernel::leave_if_endless() {
  threads_.end_if_alone();
  threads_.leave_if_ending();
  CoroutineBase* const current = current_runtime().current();
  if (current == nullptr) return;
  const bool ends = machine_.over() || machine_.is_down() || current->is_cancellation_requested();
  if (!ends) {
    calls_in_vain_ = 0;
  } else if (++calls_in_vain_ > kMostInVain) {
    calls_in_vain_ = 0;
    leave();
  }
}

void SimKernel::drop_if_endless() {
  const bool ends = machine_.over() || machine_.is_down() || threads_.is_ending();
  if (!ends || !current_runtime().scheduler().can_suspend()) return;
  if (++calls_in_vain_ > kMostInVain) drop_coroutine(DropAs::Forced);
}

void SimKernel::leave_if_interrupted(ssize_t result) {
  if (result != -EINTR && result != -ECANCELED) return;
  if (!machine_.over() && !machine_.is_down()) leave_if_endless();
}

// A wait for nothing ends when the coroutine does.
void SimKernel::leave() {
  ReadyWait never(current_runtime(), machine_, "abort", {});
  for (;;) fermata::wait(never);
}

// Those of its frames that would not let an exception pass are not asked.
void SimKernel::drop_coroutine(DropAs end) {
  FERMATA_ASSERT(current_runtime().scheduler().can_suspend());
  const bool is_forced = end == DropAs::Forced;
  current_runtime().scheduler().drop_current(is_forced ? std::make_exception_ptr(ForcedUnwind{})
                                                       : nullptr);
}

void SimKernel::terminate(std::string why) {
  if (!current_runtime().scheduler().can_suspend()) return;
  if (!machine_.over() && !machine_.is_down()) {
    machine_.fail(fmt::format("the program calls std::terminate(){}", why));
  }
  drop_coroutine(DropAs::Forced);
}

SourcePlace SimKernel::place_of_switch(const char* call) const {
  if (!is_read()) return {call, "", 0};
  SourcePlace place = line_of(posix::caller);
  place.function = call;
  return place;
}

SourcePlace SimKernel::place() const {
  if (is_read()) return line_of(posix::caller);
  const auto address = reinterpret_cast<std::uintptr_t>(posix::caller);
  KnownPlace& known = known_places_[address % known_places_.size()];
  if (known.caller != posix::caller) {
    known = {posix::caller, place_of(posix::caller)};
    knows_places_ = true;
  }
  return known.place;
}

// Those of a virtual thread are real: nobody sees it half done.
posix::Threads* SimKernel::threads() noexcept {
  return &machine_.host() == &machine_ ? &threads_ : nullptr;
}

void SimKernel::refuse(const char* function, const void* caller) {
  Dl_info found = {};
  const bool known = ::dladdr(caller, &found) != 0 && found.dli_fname != nullptr;
  const std::string_view path = known ? found.dli_fname : "foreign code";
  const std::string call =
      fmt::format("{} calls {}{}, which is not served", path.substr(path.rfind('/') + 1), function,
                  std::string_view(function).ends_with(')') ? "" : "()");
  if (!is_allowed_unserved(function)) return machine_.fail(call + " in simulated code");
  if (machine_.over()) return;
  std::printf("%s: it fails with ENOSYS (FERMATA_ALLOW_POSIX)\n", call.c_str());
}

// Whoever is to end may well take the answers that it gets for a reason to end the process.
void SimKernel::abort(std::string why) {
  CoroutineBase* const current = current_runtime().current();
  const bool ends = machine_.over() || machine_.is_down() ||
                    (current != nullptr && current->is_cancellation_requested());
  if (!ends) machine_.fail(fmt::format("foreign code ends the process: {}", why));
  if (current == nullptr) std::abort();
  leave();
}

void SimKernel::idle() {
  if (++idle_calls_ < kBusy) return;
  idle_calls_ = 0;
  if (current_runtime().current() == nullptr) return;
  static_cast<void>(
      suspended("idle", [](const SourcePlace& place, Event*) { delay(kBusyTime, place); }));
}

int SimKernel::refuse_wait(const char* call) {
  machine_.fail(fmt::format("{}() waits in a callback, which cannot be suspended", call));
  return -EDEADLK;
}

int SimKernel::wait(const char* call, std::vector<ReadyWait::Item> items, posix::Limit limit,
                    bool restarts) {
  for (;;) {
    const int waited = suspended(call, [&](const SourcePlace& place, Event* token) {
      ReadyWait event(current_runtime(), machine_, call, items);
      fermata::wait(event, {.timeout = limit, .token = token}, place);
    });
    const bool goes_on = waited == -EINTR && restarts && !limit && signals_.may_restart();
    if (!goes_on) return waited;
  }
}

std::uint64_t SimKernel::reader() {
  const CoroutineBase* const current = current_runtime().current();
  return current == nullptr ? 0 : current->id();
}

std::shared_ptr<Description> SimKernel::share(int descriptor, int& code) {
  Description* const found = table_.use(descriptor);
  code = found == nullptr ? -EBADF : 0;
  return found == nullptr ? nullptr : found->shared_from_this();
}

// --- poll ---

int SimKernel::poll(std::span<pollfd> asked, posix::Limit limit) {
  leave_if_endless();
  if (const int code = enter("poll")) return code;
  if (asked.size() > table_.limit()) return -EINVAL;
  const std::uint64_t reader = this->reader();
  std::vector<ReadyWait::Item> items;
  for (const pollfd& each : asked) {
    int code = 0;
    if (each.fd < 0) continue;
    std::shared_ptr<Description> found = share(each.fd, code);
    if (found == nullptr) continue;
    items.push_back({std::move(found), static_cast<Readiness>(each.events), each.fd});
  }
  const auto count_ready = [&] {
    int count = 0;
    for (pollfd& each : asked) {
      each.revents = 0;
      if (each.fd < 0) continue;
      Description* const found = table_.find(each.fd);
      const Readiness told = static_cast<Readiness>(each.events) | kAlwaysTold;
      each.revents =
          found == nullptr ? POLLNVAL : static_cast<short>(found->readiness_for(reader) & told);
      if (each.revents != 0) ++count;
    }
    return count;
  };
  if (const int ready = count_ready()) return ready;
  if (limit == Duration::zero()) {
    idle();
    return count_ready();
  }
  const int waited = wait_to_poll(std::move(items), limit, count_ready);
  leave_if_interrupted(waited);
  return waited == -ETIMEDOUT ? count_ready() : waited;
}

// What it was woken for somebody else may have taken.
template <class CountReady>
int SimKernel::wait_to_poll(std::vector<ReadyWait::Item> items, posix::Limit limit,
                            const CountReady& count_ready) {
  const Instant end = limit ? shown_now() + *limit : Instant::never();
  for (;;) {
    const posix::Limit rest =
        limit ? posix::Limit(std::max(end - shown_now(), Duration::zero())) : std::nullopt;
    const int waited = wait("poll", items, rest, false);
    if (waited != 0) return waited;
    if (const int ready = count_ready()) return ready;
  }
}

// --- epoll ---

Epoll* SimKernel::epoll(int descriptor, int& code) {
  Description* const found = table_.use(descriptor);
  auto* const epoll = dynamic_cast<Epoll*>(found);
  code = epoll != nullptr ? 0 : found == nullptr ? -EBADF : -EINVAL;
  return epoll;
}

int SimKernel::epoll_create(int flags) {
  if (const int code = enter("epoll_create")) return code;
  if (const int code = refuse_flags(flags, EPOLL_CLOEXEC)) return code;
  if (table_.is_full("epoll")) return -EMFILE;
  return open(std::make_shared<Epoll>(machine_, table_.next_serial()), flags);
}

int SimKernel::epoll_ctl(int descriptor, int operation, int watched, const epoll_event* event) {
  constexpr int kDeepest = 5;
  if (const int code = enter("epoll_ctl")) return code;
  int code = 0;
  const std::shared_ptr<Description> target = share(watched, code);
  if (target == nullptr) return code;
  Epoll* const epoll = this->epoll(descriptor, code);
  if (epoll == nullptr) return code;
  if (!target->can_be_watched()) return -EPERM;
  if (target.get() == epoll) return -EINVAL;
  if (operation != EPOLL_CTL_DEL && event == nullptr) return -EFAULT;
  auto* const inner = dynamic_cast<Epoll*>(target.get());
  switch (operation) {
    case EPOLL_CTL_ADD:
      if (inner != nullptr && (inner->reaches(*epoll) || inner->depth() >= kDeepest)) {
        return -ELOOP;
      }
      if ((event->events & EPOLLEXCLUSIVE) != 0 && inner != nullptr) return -EINVAL;
      return epoll->add(watched, *target, *event);
    case EPOLL_CTL_MOD:
      if ((event->events & EPOLLEXCLUSIVE) != 0) return -EINVAL;
      return epoll->modify(watched, *target, *event);
    case EPOLL_CTL_DEL:
      return epoll->remove(watched, *target);
    default:
      return -EINVAL;
  }
}

int SimKernel::epoll_wait(int descriptor, std::span<epoll_event> room, posix::Limit limit) {
  return with_waiting(
      "epoll_wait", descriptor, [&](const std::shared_ptr<Description>& found) -> int {
        auto* const epoll = dynamic_cast<Epoll*>(found.get());
        if (epoll == nullptr) return -EINVAL;
        const Instant end = limit ? shown_now() + *limit : Instant::never();
        const std::uint64_t reader = this->reader();
        for (bool first = true;; first = false) {
          if (const int count = epoll->collect(room, reader)) return count;
          if (limit && shown_now() >= end) {
            if (first) idle();
            return first ? epoll->collect(room, reader) : 0;
          }
          const posix::Limit rest = limit ? posix::Limit(end - shown_now()) : std::nullopt;
          const int waited = wait("epoll_wait", {{found, EPOLLIN, descriptor}}, rest, false);
          if (waited == -ETIMEDOUT) return epoll->collect(room, reader);
          if (waited != 0) return waited;
        }
      });
}

// --- descriptors that count, and that tell the time ---

int SimKernel::eventfd(unsigned count, int flags) {
  if (const int code = enter("eventfd")) return code;
  if (const int code = refuse_flags(flags, EFD_SEMAPHORE | EFD_CLOEXEC | EFD_NONBLOCK)) return code;
  if (table_.is_full("eventfd")) return -EMFILE;
  const bool as_semaphore = (flags & EFD_SEMAPHORE) != 0;
  return open(std::make_shared<EventCounter>(machine_, table_.next_serial(), count, as_semaphore),
              flags);
}

TimerDescriptor* SimKernel::timer(int descriptor, int& code) {
  Description* const found = table_.use(descriptor);
  auto* const timer = dynamic_cast<TimerDescriptor*>(found);
  code = timer != nullptr ? 0 : found == nullptr ? -EBADF : -EINVAL;
  return timer;
}

int SimKernel::timerfd_create(clockid_t clock, int flags) {
  if (const int code = enter("timerfd_create")) return code;
  if (const int code = refuse_flags(flags, TFD_CLOEXEC | TFD_NONBLOCK)) return code;
  const bool known = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC ||
                     clock == CLOCK_BOOTTIME || clock == CLOCK_REALTIME_ALARM ||
                     clock == CLOCK_BOOTTIME_ALARM;
  if (!known) return -EINVAL;
  if (table_.is_full("timerfd")) return -EMFILE;
  return open(std::make_shared<TimerDescriptor>(machine_, table_.next_serial(), clock), flags);
}

int SimKernel::timerfd_settime(int descriptor, int flags, const itimerspec& setting,
                               itimerspec* before) {
  if (const int code = enter("timerfd_settime")) return code;
  if (const int code = refuse_flags(flags, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)) {
    return code;
  }
  int code = 0;
  TimerDescriptor* const found = timer(descriptor, code);
  return found == nullptr ? code : found->set(flags, setting, before);
}

int SimKernel::timerfd_gettime(int descriptor, itimerspec& left) {
  if (const int code = enter("timerfd_gettime")) return code;
  int code = 0;
  TimerDescriptor* const found = timer(descriptor, code);
  if (found != nullptr) left = found->left();
  return code;
}

}  // namespace fermata::sim::detail
