// SPDX-License-Identifier: Apache-2.0

// Signals: what is done about them, who lets them in, who sends them.

#include "fermata/posix/signals.hpp"

#include <sys/signalfd.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/limit.hpp"
#include "fermata/posix/served/threads_serving.hpp"

using fermata::posix::answer;
using fermata::posix::is_valid;
using fermata::posix::limit_of;
using fermata::posix::serving;
using fermata::posix::Signals;
using fermata::posix::Threads;
using fermata::posix::threads_for;

namespace {

/// Who serves a call from there, which is noted; null: the C library.
Signals* signals_for(const void* from) noexcept {
  if (__builtin_expect(serving == nullptr, 1)) return nullptr;
  FERMATA_ASSERT(from != nullptr);
  fermata::posix::caller = from;
  return serving->signals();
}

/// Seconds, as alarm() counts what is left: not 0 when there is something.
unsigned seconds_of(const timeval& time) noexcept {
  FERMATA_ASSERT(time.tv_sec >= 0);
  constexpr suseconds_t kHalf = 500'000;
  const auto rounded = static_cast<unsigned>(time.tv_sec + (time.tv_usec >= kHalf ? 1 : 0));
  return rounded == 0 && time.tv_usec > 0 ? 1 : rounded;
}

/// What signal() gives.
sighandler_t set_handler(Signals& signals, int signal, sighandler_t handler, int flags) noexcept {
  FERMATA_ASSERT(serving != nullptr);
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return answer(signals.set_action(signal, &action, &before)) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

extern "C" {

// --- what is done about them ---

int sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  if (signals == nullptr) return FERMATA_REAL(sigaction)(signal, action, before);
  return answer(signals->set_action(signal, action, before));
}

// Spelled otherwise where a program asks for System V.
sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept;

sighandler_t signal(int signal, sighandler_t handler) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  if (signals == nullptr) return FERMATA_REAL(signal)(signal, handler);
  return set_handler(*signals, signal, handler, SA_RESTART);
}

sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  if (signals == nullptr) return FERMATA_REAL(__sysv_signal)(signal, handler);
  return set_handler(*signals, signal, handler, static_cast<int>(SA_RESETHAND) | SA_NODEFER);
}

// --- who lets them in ---

int pthread_sigmask(int how, const sigset_t* mask, sigset_t* before) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  return signals == nullptr ? FERMATA_REAL(pthread_sigmask)(how, mask, before)
                            : -signals->change_mask(how, mask, before);
}

int sigprocmask(int how, const sigset_t* mask, sigset_t* before) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  return signals == nullptr ? FERMATA_REAL(sigprocmask)(how, mask, before)
                            : answer(signals->change_mask(how, mask, before));
}

int sigpending(sigset_t* pending) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  if (signals == nullptr) return FERMATA_REAL(sigpending)(pending);
  *pending = signals->pending();
  return 0;
}

// --- who sends them ---

int kill(pid_t process, int signal) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  return signals == nullptr ? FERMATA_REAL(kill)(process, signal)
                            : answer(signals->send(process, signal, nullptr));
}

int sigqueue(pid_t process, int signal, const sigval value) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  return signals == nullptr ? FERMATA_REAL(sigqueue)(process, signal, value)
                            : answer(signals->send(process, signal, &value));
}

int raise(int signal) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  if (signals == nullptr) return FERMATA_REAL(raise)(signal);
  return answer(signals->send_to_thread(pthread_self(), signal, nullptr));
}

int pthread_kill(pthread_t thread, int signal) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  return signals == nullptr ? FERMATA_REAL(pthread_kill)(thread, signal)
                            : -signals->send_to_thread(thread, signal, nullptr);
}

int pthread_sigqueue(pthread_t thread, int signal, const sigval value) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  return signals == nullptr ? FERMATA_REAL(pthread_sigqueue)(thread, signal, value)
                            : -signals->send_to_thread(thread, signal, &value);
}

unsigned alarm(unsigned seconds) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  if (signals == nullptr) return FERMATA_REAL(alarm)(seconds);
  const itimerval setting = {.it_interval = {}, .it_value = {seconds, 0}};
  itimerval before = {};
  static_cast<void>(signals->set_timer(&setting, &before));
  return seconds_of(before.it_value);
}

int setitimer(__itimer_which_t which, const itimerval* setting, itimerval* before) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  if (signals == nullptr) return FERMATA_REAL(setitimer)(which, setting, before);
  return answer(which == ITIMER_REAL ? signals->set_timer(setting, before) : -EINVAL);
}

int getitimer(__itimer_which_t which, itimerval* left) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  if (signals == nullptr) return FERMATA_REAL(getitimer)(which, left);
  return answer(which == ITIMER_REAL ? signals->set_timer(nullptr, left) : -EINVAL);
}

pid_t getpid() noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  return signals == nullptr ? FERMATA_REAL(getpid)() : signals->process_id();
}

// The process has been started by the first one.
pid_t getppid() noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  return signals == nullptr ? FERMATA_REAL(getppid)() : 1;
}

pid_t gettid() noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  return threads == nullptr ? FERMATA_REAL(gettid)() : threads->number();
}

// --- who waits for them ---

int sigwait(const sigset_t* wanted, int* taken) {
  Signals* const signals = signals_for(__builtin_return_address(0));
  if (signals == nullptr) return FERMATA_REAL(sigwait)(wanted, taken);
  int result = -EINTR;
  while (result == -EINTR) result = signals->take(*wanted, {}, nullptr);
  if (result < 0) return -result;
  FERMATA_ASSERT(result > 0);
  *taken = result;
  return 0;
}

int sigtimedwait(const sigset_t* wanted, siginfo_t* info, const timespec* span) {
  Signals* const signals = signals_for(__builtin_return_address(0));
  if (signals == nullptr) return FERMATA_REAL(sigtimedwait)(wanted, info, span);
  if (span != nullptr && !is_valid(*span)) return answer(-EINVAL);
  siginfo_t told = {};
  const int result = signals->take(*wanted, limit_of(span), &told);
  if (told.si_code == SI_TKILL) told.si_code = SI_USER;  // As the C library has it.
  if (result > 0 && info != nullptr) *info = told;
  return answer(result);
}

int sigwaitinfo(const sigset_t* wanted, siginfo_t* info) {
  return sigtimedwait(wanted, info, nullptr);
}

int signalfd(int descriptor, const sigset_t* wanted, int flags) noexcept {
  Signals* const signals = signals_for(__builtin_return_address(0));
  return signals == nullptr ? FERMATA_REAL(signalfd)(descriptor, wanted, flags)
                            : answer(signals->descriptor(descriptor, *wanted, flags));
}

int sigsuspend(const sigset_t* mask) {
  Signals* const signals = signals_for(__builtin_return_address(0));
  if (signals == nullptr) return FERMATA_REAL(sigsuspend)(mask);
  return answer(signals->wait_for_handler(*mask));
}

int pause() {
  Signals* const signals = signals_for(__builtin_return_address(0));
  return signals == nullptr ? FERMATA_REAL(pause)() : answer(signals->wait_for_handler({}));
}

}  // extern "C"
