// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/foreign_signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/kept_caller.hpp"

namespace fermata::sim::detail {

namespace {

constexpr int kFirstProcess = 1'000;
constexpr int kFurtherProcess = 10'000;

bool is_unstoppable(int signal) noexcept { return signal == SIGKILL || signal == SIGSTOP; }

bool is_ignored_by_default(int signal) noexcept {
  return signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
}

timeval timeval_of(Duration span) noexcept {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(span);
  const auto rest = std::chrono::ceil<std::chrono::microseconds>(span - seconds);
  return {.tv_sec = seconds.count(), .tv_usec = rest.count()};
}

Duration duration_of(const timeval& time) noexcept {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

bool is_time(const timeval& time) noexcept {
  constexpr suseconds_t kMillion = 1'000'000;
  return time.tv_sec >= 0 && time.tv_usec >= 0 && time.tv_usec < kMillion;
}

}  // namespace

ForeignSignals::Waiting::Waiting(ForeignSignals& signals, SignalArrival& arrival)
    : signals_(signals), thread_(current_runtime().current()->id()) {
  signals_.threads_[thread_].arrival = &arrival;
}

ForeignSignals::Waiting::~Waiting() { signals_.threads_[thread_].arrival = nullptr; }

void ForeignSignals::begin_life() {
  drop_alarm();
  actions_ = {};
  threads_.clear();
  pending_ = 0;
  used_ = false;
}

// --- sets ---

bool ForeignSignals::is_signal(int signal) noexcept { return signal > 0 && signal < NSIG; }

ForeignSignals::Set ForeignSignals::set_of(const sigset_t& set) noexcept {
  static_assert(sizeof set >= sizeof(Set));
  Set bits = 0;
  std::memcpy(&bits, &set, sizeof bits);  // As the system has it.
  return bits;
}

sigset_t ForeignSignals::set_from(Set bits) noexcept {
  sigset_t set = {};
  std::memcpy(&set, &bits, sizeof bits);
  return set;
}

ForeignSignals::Thread& ForeignSignals::mine() {
  const CoroutineBase* const current = current_runtime().current();
  return threads_[current == nullptr ? 0 : current->id()];
}

void ForeignSignals::inherit(std::uint64_t thread) {
  if (used_) threads_[thread].mask = mine().mask;
}

int ForeignSignals::change_mask(int how, const sigset_t* mask, sigset_t* before) {
  Thread& self = mine();
  if (before != nullptr) *before = set_from(self.mask);
  if (mask == nullptr) return 0;
  const Set changed = set_of(*mask) & ~(bit(SIGKILL) | bit(SIGSTOP));
  switch (how) {
    case SIG_BLOCK:
      self.mask |= changed;
      break;
    case SIG_UNBLOCK:
      self.mask &= ~changed;
      break;
    case SIG_SETMASK:
      self.mask = changed;
      break;
    default:
      return -EINVAL;
  }
  used_ = true;
  end_call("sigprocmask");
  return 0;
}

sigset_t ForeignSignals::pending() { return set_from((pending_ | mine().pending) & mine().mask); }

// --- actions ---

bool ForeignSignals::handles(int signal) const noexcept {
  if (!is_signal(signal)) return false;
  const auto& action = actions_[static_cast<std::size_t>(signal)];
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

bool ForeignSignals::is_ignored(int signal) const noexcept {
  const auto& action = actions_[static_cast<std::size_t>(signal)];
  return action.sa_handler == SIG_IGN ||
         (action.sa_handler == SIG_DFL && is_ignored_by_default(signal));
}

int ForeignSignals::set_action(int signal, const struct sigaction* action,
                               struct sigaction* before) {
  if (!is_signal(signal) || (action != nullptr && is_unstoppable(signal))) return -EINVAL;
  auto& known = actions_[static_cast<std::size_t>(signal)];
  if (before != nullptr) *before = known;
  if (action == nullptr) return 0;
  known = *action;
  used_ = true;
  if (!is_ignored(signal)) return 0;
  pending_ &= ~bit(signal);
  for (auto& [coroutine, thread] : threads_) thread.pending &= ~bit(signal);
  return 0;
}

// --- sending ---

pid_t ForeignSignals::process_id() const noexcept {
  return kFirstProcess + static_cast<pid_t>(machine_.number()) +
         kFurtherProcess * static_cast<pid_t>(host_.process_index());
}

int ForeignSignals::send(pid_t process, int signal) {
  if (signal != 0 && !is_signal(signal)) return -EINVAL;
  if (process != process_id() && process != 0 && process != -process_id()) return -ESRCH;
  if (signal == 0) return 0;
  come(signal);
  end_call("kill");
  return 0;
}

int ForeignSignals::send_to_thread(pthread_t thread, int signal) {
  if (!host_.knows_thread(thread)) return -ESRCH;
  if (signal != 0 && !is_signal(signal)) return -EINVAL;
  if (signal == 0) return 0;
  used_ = true;
  post(signal, &threads_[thread]);
  end_call("pthread_kill");
  return 0;
}

void ForeignSignals::come(int signal) {
  FERMATA_ASSERT(is_signal(signal));
  used_ = true;
  post(signal, nullptr);
}

// Of several threads that could take it the oldest one that waits does.
void ForeignSignals::post(int signal, Thread* thread) {
  FERMATA_ASSERT(is_signal(signal));
  const auto takes = [&](const Thread& each) {
    return each.arrival != nullptr &&
           ((each.mask & bit(signal)) == 0 || (each.taken & bit(signal)) != 0);
  };
  const bool is_awaited = std::any_of(threads_.begin(), threads_.end(), [&](const auto& each) {
    return (each.second.taken & bit(signal)) != 0;
  });
  if (is_ignored(signal) && !is_awaited) return;
  (thread != nullptr ? thread->pending : pending_) |= bit(signal);
  if (thread != nullptr) {
    if (takes(*thread)) thread->arrival->come();
    return;
  }
  const auto found = std::find_if(threads_.begin(), threads_.end(),
                                  [&](const auto& each) { return takes(each.second); });
  if (found != threads_.end()) found->second.arrival->come();
}

// --- delivery ---

int ForeignSignals::next_of(Set wanted) {
  Thread& self = mine();
  const Set due = (self.pending | pending_) & wanted;
  if (due == 0) return 0;
  const int signal = std::countr_zero(due) + 1;
  FERMATA_ASSERT(is_signal(signal));
  Set& from = (self.pending & bit(signal)) != 0 ? self.pending : pending_;
  from &= ~bit(signal);
  return signal;
}

void ForeignSignals::end_call(const char* call) {
  host_.switch_threads(call);
  deliver();
}

bool ForeignSignals::deliver() {
  if (!used_ || current_runtime().current() == nullptr) return false;
  bool has_run = false;
  while (const int signal = next_of(~mine().mask)) {
    if (is_ignored(signal)) continue;
    if (!handles(signal)) {
      machine_.fail(fmt::format("signal {} ({}) ends the process", signal, ::sigdescr_np(signal)));
      continue;
    }
    const bool restarts =
        (actions_[static_cast<std::size_t>(signal)].sa_flags & static_cast<int>(SA_RESTART)) != 0;
    may_restart_ = restarts && (may_restart_ || !has_run);
    has_run = true;
    run_handler(signal);
  }
  return has_run;
}

void ForeignSignals::run_handler(int signal) {
  FERMATA_ASSERT(handles(signal));
  const KeptCaller kept;
  auto& known = actions_[static_cast<std::size_t>(signal)];
  const struct sigaction action = known;
  const auto has = [&](unsigned flag) { return (action.sa_flags & static_cast<int>(flag)) != 0; };
  if (has(SA_RESETHAND)) known = {};
  const Set mask_before = mine().mask;
  mine().mask |= set_of(action.sa_mask) | (has(SA_NODEFER) ? 0 : bit(signal));
  const int error_before = errno;
  const bool may_restart = may_restart_;
  if (has(SA_SIGINFO)) {
    siginfo_t info = {};
    info.si_signo = signal;
    info.si_code = SI_USER;
    info.si_pid = process_id();
    action.sa_sigaction(signal, &info, nullptr);
  } else {
    action.sa_handler(signal);
  }
  may_restart_ = may_restart;
  errno = error_before;
  mine().mask = mask_before;
}

// --- waiting ---

int ForeignSignals::take(const sigset_t& wanted, posix::Limit limit) {
  const Set signals = set_of(wanted);
  used_ = true;
  mine().taken = signals;
  int signal = next_of(signals);
  int waited = 0;
  if (signal == 0 && limit != Duration::zero()) {
    waited = host_.wait_for_signal("sigwait", limit);
    signal = next_of(signals);
  }
  mine().taken = 0;
  if (signal != 0) return signal;
  return waited == -ETIMEDOUT || limit == Duration::zero() ? -EAGAIN : waited;
}

int ForeignSignals::wait_for_handler(const std::optional<sigset_t>& mask) {
  used_ = true;
  const Set before = mine().mask;
  if (mask) mine().mask = set_of(*mask);
  int waited = deliver() ? -EINTR : 0;
  while (waited == 0) waited = host_.wait_for_signal("pause", {});
  mine().mask = before;
  return waited;
}

// --- the alarm ---

int ForeignSignals::set_timer(const itimerval* setting, itimerval* before) {
  if (setting != nullptr && (!is_time(setting->it_value) || !is_time(setting->it_interval))) {
    return -EINVAL;
  }
  if (before != nullptr) {
    before->it_value = timeval_of(alarm_is_set_ ? alarm_at_ - machine_.now() : Duration::zero());
    before->it_interval = timeval_of(alarm_is_set_ ? alarm_interval_ : Duration::zero());
  }
  if (setting == nullptr) return 0;
  used_ = true;
  drop_alarm();
  alarm_interval_ = duration_of(setting->it_interval);
  const Duration span = duration_of(setting->it_value);
  if (span > Duration::zero()) set_alarm(span);
  return 0;
}

void ForeignSignals::set_alarm(Duration span) {
  FERMATA_ASSERT(alarm_.get() == nullptr);
  alarm_ = make_timer(current_runtime(), span, TimerMode::Multishot);
  alarm_watch_ = subscribe(*alarm_, [this](Event&, const Outcome&) { ring(); });
  alarm_->start();
  alarm_at_ = machine_.now() + span;
  alarm_is_set_ = true;
}

void ForeignSignals::drop_alarm() noexcept {
  alarm_watch_.cancel();
  alarm_.reset();
  alarm_is_set_ = false;
}

void ForeignSignals::ring() {
  FERMATA_ASSERT(alarm_.get() != nullptr);
  alarm_is_set_ = alarm_interval_ > Duration::zero();
  if (alarm_is_set_) {
    alarm_at_ = machine_.now() + alarm_interval_;
    alarm_->rearm(alarm_interval_);
  }
  come(SIGALRM);
}

}  // namespace fermata::sim::detail
