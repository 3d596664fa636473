// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/foreign_signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/clock.hpp"
#include "fermata/sim/posix/kept_caller.hpp"
#include "fermata/sim/posix/signal_descriptor.hpp"

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

Duration span_of(const timeval& time) noexcept {
  const Duration whole =
      duration_of(timespec{.tv_sec = time.tv_sec, .tv_nsec = time.tv_usec * 1000});
  return std::min(whole, kForever);
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

// Another process may hold descriptors of this one.
ForeignSignals::~ForeignSignals() {
  for (SignalDescriptor* const each : descriptors_) each->leave_process();
}

// SIGPIPE is ignored, as Fermata has it in a real program.
std::array<struct sigaction, NSIG> ForeignSignals::first_actions() noexcept {
  std::array<struct sigaction, NSIG> actions = {};
  actions[SIGPIPE].sa_handler = SIG_IGN;
  return actions;
}

void ForeignSignals::begin_life() {
  main_ends();
  timers_.begin_life();
  if (std::exchange(has_set_actions_, false)) actions_ = first_actions();
  threads_.clear();
  pending_ = {};
  used_ = false;
}

// --- masks ---

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
  const SignalSet changed = set_of(*mask);
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
  pass_on();
  end_call("sigprocmask");
  return 0;
}

sigset_t ForeignSignals::pending() {
  const Thread& self = mine();
  return set_from((pending_.set() | self.pending.set()) & self.mask);
}

SignalSet ForeignSignals::pending_for(std::uint64_t thread) const {
  const auto found = threads_.find(thread);
  return pending_.set() | (found == threads_.end() ? 0 : found->second.pending.set());
}

SignalSet ForeignSignals::all_pending() const {
  SignalSet all = pending_.set();
  for (const auto& [coroutine, thread] : threads_) all |= thread.pending.set();
  return all;
}

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

bool ForeignSignals::is_dropped(int signal, const Thread* thread) const noexcept {
  if (!is_ignored(signal)) return false;
  const auto keeps_out = [&](const Thread& each) { return (each.mask & signal_bit(signal)) != 0; };
  if (thread != nullptr) return !keeps_out(*thread);
  return std::none_of(threads_.begin(), threads_.end(),
                      [&](const auto& each) { return keeps_out(each.second); });
}

int ForeignSignals::set_action(int signal, const struct sigaction* action,
                               struct sigaction* before) {
  if (!is_signal(signal) || (action != nullptr && is_unstoppable(signal))) return -EINVAL;
  auto& known = actions_[static_cast<std::size_t>(signal)];
  if (before != nullptr) *before = known;
  if (action == nullptr) return 0;
  known = *action;
  used_ = true;
  has_set_actions_ = true;
  if (!is_ignored(signal)) {
    timers_.is_heard(signal);
    return 0;
  }
  timers_.is_dropped(signal);
  pending_.drop(signal_bit(signal));
  for (auto& [coroutine, thread] : threads_) thread.pending.drop(signal_bit(signal));
  return 0;
}

// --- sending ---

pid_t ForeignSignals::process_id() const noexcept {
  return kFirstProcess + static_cast<pid_t>(machine_.number()) +
         kFurtherProcess * static_cast<pid_t>(host_.process_index());
}

ForeignSignals::Entry ForeignSignals::entry_of(int signal, int code,
                                               const sigval* value) const noexcept {
  Entry entry;
  entry.info.si_signo = signal;
  entry.info.si_code = value != nullptr ? SI_QUEUE : code;
  entry.info.si_pid = process_id();
  if (value != nullptr) entry.info.si_value = *value;
  return entry;
}

int ForeignSignals::send(pid_t process, int signal, const sigval* value) {
  if (signal != 0 && !is_signal(signal)) return -EINVAL;
  if (process != process_id() && process != 0 && process != -process_id()) return -ESRCH;
  if (signal == 0) return 0;
  post(entry_of(signal, SI_USER, value), nullptr);
  end_call("kill");
  return 0;
}

int ForeignSignals::send_to_thread(pthread_t thread, int signal, const sigval* value) {
  if (!host_.knows_thread(thread)) return -ESRCH;
  if (signal != 0 && !is_signal(signal)) return -EINVAL;
  if (signal == 0) return 0;
  post(entry_of(signal, SI_TKILL, value), &threads_[thread]);
  end_call("pthread_kill");
  return 0;
}

void ForeignSignals::come(int signal) {
  constexpr pid_t kInit = 1;
  Entry entry = entry_of(signal, SI_USER);
  entry.info.si_pid = kInit;
  post(entry, nullptr);
}

bool ForeignSignals::time_out(const siginfo_t& info, std::uint64_t thread) {
  const auto found = threads_.find(thread);
  if (thread != 0 && found == threads_.end()) return false;
  Thread* const target = thread == 0 ? nullptr : &found->second;
  if (is_dropped(info.si_signo, target)) return false;
  post({info, "timer_settime"}, target);
  return true;
}

void ForeignSignals::forget_timer(int timer) {
  pending_.drop_timer(timer);
  for (auto& [coroutine, thread] : threads_) thread.pending.drop_timer(timer);
}

std::uint64_t ForeignSignals::thread_of(pid_t number) {
  const std::uint64_t thread = host_.thread_numbered(number);
  if (thread != 0) threads_.try_emplace(thread);
  return thread;
}

void ForeignSignals::break_pipe(const char* call) {
  Entry entry = entry_of(SIGPIPE, SI_USER);
  entry.call = call;
  post(entry, &mine());
  deliver();
}

bool ForeignSignals::takes(const Thread& thread, int signal) noexcept {
  return thread.arrival != nullptr && (signal_bit(signal) & (~thread.mask | thread.taken)) != 0;
}

// Who has been told of another one takes a single one, if it waits for signals only.
void ForeignSignals::tell_one(int signal) {
  const auto found = std::find_if(threads_.begin(), threads_.end(), [&](const auto& each) {
    return takes(each.second, signal) && !each.second.arrival->has_come();
  });
  if (found != threads_.end()) found->second.arrival->come();
}

void ForeignSignals::pass_on() {
  for (SignalSet left = pending_.set(); left != 0; left &= left - 1) {
    const int signal = std::countr_zero(left) + 1;
    const bool is_told = std::any_of(threads_.begin(), threads_.end(), [&](const auto& each) {
      return takes(each.second, signal) && each.second.arrival->has_come();
    });
    if (!is_told) tell_one(signal);
  }
}

// Of several threads that could take it the oldest one that waits does.
void ForeignSignals::post(const Entry& entry, Thread* thread) {
  const int signal = entry.info.si_signo;
  FERMATA_ASSERT(is_signal(signal));
  if (is_dropped(signal, thread)) return;
  used_ = true;
  (thread != nullptr ? thread->pending : pending_).add(entry);
  for (SignalDescriptor* const each : descriptors_) each->came(signal);
  if (thread != nullptr) {
    if (takes(*thread, signal)) thread->arrival->come();
    return;
  }
  tell_one(signal);
}

// --- delivery ---

std::optional<ForeignSignals::Entry> ForeignSignals::next_of(SignalSet wanted) {
  std::optional<Entry> next = mine().pending.take(wanted);
  if (!next) next = pending_.take(wanted);
  if (next && next->info.si_code == SI_TIMER) timers_.let_in(next->info);
  return next;
}

void ForeignSignals::end_call(const char* call) {
  host_.switch_threads(call);
  deliver();
}

bool ForeignSignals::has_for_current() {
  const Thread& self = mine();
  return ((pending_.set() | self.pending.set()) & ~self.mask) != 0;
}

bool ForeignSignals::deliver() {
  if (!used_ || current_runtime().current() == nullptr) return false;
  bool has_run = false;
  while (run_handlers(!has_run)) has_run = true;
  return has_run;
}

// The system puts a frame on the stack for each, and then runs what is on top. When that has
// returned, what it has kept out comes first.
bool ForeignSignals::run_handlers(bool is_first) {
  std::optional<Entry> entry;
  for (;;) {
    entry = next_of(~mine().mask);
    if (!entry) return false;
    const int signal = entry->info.si_signo;
    if (handles(signal)) break;
    if (!is_ignored(signal)) end_process(*entry);
  }
  const int signal = entry->info.si_signo;
  auto& known = actions_[static_cast<std::size_t>(signal)];
  const struct sigaction action = known;
  const auto has = [&](unsigned flag) { return (action.sa_flags & static_cast<int>(flag)) != 0; };
  if (is_first) may_restart_ = has(SA_RESTART);
  if (has(SA_RESETHAND)) known = {};
  const SignalSet mask_before = mine().mask;
  mine().mask |= set_of(action.sa_mask) | (has(SA_NODEFER) ? 0 : signal_bit(signal));
  while (run_handlers(false)) {
  }
  pass_on();
  run_handler(action, entry->info);
  mine().mask = mask_before;
  return true;
}

void ForeignSignals::end_process(const Entry& entry) {
  const int signal = entry.info.si_signo;
  const std::string origin = entry.call == nullptr ? "" : fmt::format(" of {}()", entry.call);
  machine_.fail(
      fmt::format("signal {} ({}){} ends the process", signal, ::sigdescr_np(signal), origin));
}

void ForeignSignals::run_handler(const struct sigaction& action, const siginfo_t& info) {
  const KeptCaller kept;
  const int error_before = errno;
  const bool may_restart = may_restart_;
  if ((action.sa_flags & static_cast<int>(SA_SIGINFO)) != 0) {
    siginfo_t told = info;
    action.sa_sigaction(info.si_signo, &told, nullptr);
  } else {
    action.sa_handler(info.si_signo);
  }
  may_restart_ = may_restart;
  errno = error_before;
}

// --- waiting ---

int ForeignSignals::take(const sigset_t& wanted, posix::Limit limit, siginfo_t* info) {
  const SignalSet signals = set_of(wanted);
  used_ = true;
  mine().taken = signals;
  std::optional<Entry> taken = next_of(signals);
  int waited = 0;
  if (!taken && limit != Duration::zero()) {
    waited = host_.wait_for_signal("sigwait", limit);
    taken = next_of(signals);
  }
  mine().taken = 0;
  pass_on();
  if (taken && info != nullptr) *info = taken->info;
  if (taken) return taken->info.si_signo;
  return waited == -ETIMEDOUT || limit == Duration::zero() ? -EAGAIN : waited;
}

int ForeignSignals::wait_for_handler(const std::optional<sigset_t>& mask) {
  used_ = true;
  const SignalSet before = mine().mask;
  if (mask) mine().mask = set_of(*mask);
  int waited = deliver() ? -EINTR : 0;
  while (waited == 0) waited = host_.wait_for_signal("pause", {});
  mine().mask = before;
  pass_on();
  return waited;
}

int ForeignSignals::descriptor(int known, const sigset_t& wanted, int flags) {
  return host_.open_signals(known, set_of(wanted), flags);
}

void ForeignSignals::remove(const SignalDescriptor& descriptor) noexcept {
  std::erase(descriptors_, &descriptor);
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
  alarm_interval_ = span_of(setting->it_interval);
  const Duration span = span_of(setting->it_value);
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
