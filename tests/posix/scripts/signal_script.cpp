// SPDX-License-Identifier: Apache-2.0
#include "tests/posix/scripts/signal_script.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <random>
#include <string>
#include <utility>

#include "tests/posix/scripts/answers.hpp"

namespace fermata::test {

namespace {

using namespace kind;  // NOLINT(google-build-using-namespace): the rows of a table.

constexpr std::array<Kinds, 2> kMakesNone = {kNone, kNone};

// Each as often as it stands here.
const std::array kSignalOperations = {
    Operation{1, kNone, kNone, kMakesNone, kNone, change_mask},
    Operation{1, kNone, kNone, kMakesNone, kNone, change_mask},
    Operation{1, kNone, kNone, kMakesNone, kNone, set_action},
    Operation{1, kNone, kNone, kMakesNone, kNone, send_signal},
    Operation{1, kNone, kNone, kMakesNone, kNone, send_signal},
    Operation{1, kNone, kNone, kMakesNone, kNone, queue_signal},
    Operation{1, kNone, kNone, kMakesNone, kNone, tell_pending},
    Operation{1, kNone, kNone, kMakesNone, kNone, take_signal},
    Operation{1, kNone, kNone, {kEvent, kNone}, kNone, open_signals},
    Operation{1, kEvent, kNone, kMakesNone, kNone, read_signals},
    Operation{1, kEvent, kNone, kMakesNone, kNone, poll_signals},
    Operation{1, kNone, kNone, kMakesNone, kNone, start_timer},
    Operation{1, kNone, kNone, kMakesNone, kNone, break_pipe},
};

const std::array kSignals = {SIGUSR1, SIGUSR2, SIGPIPE, SIGCHLD, SIGRTMIN, SIGRTMIN + 1};

int signal_of(const Step& step, unsigned digit) {
  return kSignals[step.choice(digit, kSignals.size())];
}

sigset_t set_of(const Step& step, unsigned digit) {
  sigset_t set;
  sigemptyset(&set);
  const std::uint64_t bits = step.choice(digit, std::uint64_t{1} << kSignals.size());
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if ((bits >> i & 1) != 0) sigaddset(&set, kSignals[i]);
  }
  return set;
}

std::string set_text(const sigset_t& set) {
  std::string text = "{";
  for (const int each : kSignals)
    text += sigismember(&set, each) == 1 ? fmt::format(" {}", each) : "";
  return text + " }";
}

std::string info_text(const siginfo_t& info) {
  const bool has_value = info.si_code == SI_QUEUE || info.si_code == SI_TIMER;
  return fmt::format(" [{} code {} value {} own {}]", info.si_signo, info.si_code,
                     has_value ? info.si_value.sival_int : 0,
                     info.si_code == SI_TIMER || info.si_pid == ::getpid());
}

std::string handled_text;
void note_handled(int, siginfo_t* info, void*) { handled_text += info_text(*info); }

/// The result, and which handlers have run.
Answer told(std::string call, std::string result) {
  return {std::move(call), std::move(result) + std::exchange(handled_text, {})};
}

void set_handler(int signal, bool handles, int flags) {
  struct sigaction action = {};
  if (handles) {
    action.sa_sigaction = &note_handled;
    action.sa_flags = SA_SIGINFO | flags;
  } else {
    action.sa_handler = SIG_IGN;
  }
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

Script draw_signal_script(std::uint64_t number) {
  constexpr std::uint64_t kShortest = 4;
  constexpr std::uint64_t kLengths = 20;
  std::mt19937_64 generator(number);
  Script script;
  const std::size_t length = kShortest + generator() % kLengths;
  int slots = 0;
  while (script.size() < length) {
    const Operation& drawn = kSignalOperations[generator() % kSignalOperations.size()];
    Step step;
    step.operation = &drawn;
    step.value = generator();
    if (drawn.first != kNone && slots == 0) continue;
    if (drawn.first != kNone) {
      step.first = static_cast<int>(generator() % static_cast<unsigned>(slots));
    }
    if (drawn.makes[0] != kNone) step.made[0] = slots++;
    script.push_back(step);
  }
  return script;
}

// Ignoring a signal drops what waits.
void prepare_signals() {
  sigset_t none;
  sigemptyset(&none);
  for (const int each : kSignals) set_handler(each, false, 0);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  for (const int each : kSignals) set_handler(each, true, 0);
  handled_text.clear();
}

Answer change_mask(Run&, const Step& step) {
  const int how = step.one_of<int>(0, {SIG_BLOCK, SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK});
  const sigset_t set = set_of(step, 1);
  sigset_t before;
  const int code = ::pthread_sigmask(how, &set, &before);
  return told(fmt::format("pthread_sigmask({}, {})", how, set_text(set)),
              fmt::format("{} {}", code, set_text(before)));
}

Answer set_action(Run&, const Step& step) {
  const int signal = signal_of(step, 0);
  const bool handles = step.choice(1, 3) != 0;
  const int flags = step.one_of<int>(2, {0, 0, SA_NODEFER});
  set_handler(signal, handles, flags);
  return told(
      fmt::format("sigaction({}, {}, {:#x})", signal, handles ? "handler" : "SIG_IGN", flags), "0");
}

Answer send_signal(Run&, const Step& step) {
  const int signal = signal_of(step, 0);
  const bool raises = step.choice(1, 2) == 0;
  const int result = raises ? ::raise(signal) : ::kill(::getpid(), signal);
  return told(fmt::format("{}({})", raises ? "raise" : "kill", signal), result_of(result));
}

Answer queue_signal(Run&, const Step& step) {
  const int signal = signal_of(step, 0);
  sigval value = {};
  value.sival_int = static_cast<int>(step.choice(1, 100));
  const bool to_thread = step.choice(2, 2) == 0;
  const int result = to_thread ? ::pthread_sigqueue(::pthread_self(), signal, value)
                               : ::sigqueue(::getpid(), signal, value);
  return told(fmt::format("{}({}, {})", to_thread ? "pthread_sigqueue" : "sigqueue", signal,
                          value.sival_int),
              result_of(result));
}

Answer tell_pending(Run&, const Step&) {
  sigset_t waiting;
  const int result = ::sigpending(&waiting);
  return told("sigpending", result_of(result) + " " + set_text(waiting));
}

Answer take_signal(Run&, const Step& step) {
  const sigset_t wanted = set_of(step, 0);
  constexpr timespec kAtOnce = {};
  siginfo_t info = {};
  const int result = ::sigtimedwait(&wanted, &info, &kAtOnce);
  return told(fmt::format("sigtimedwait({})", set_text(wanted)),
              result_with(result, [&] { return info_text(info); }));
}

Answer open_signals(Run& run, const Step& step) {
  const sigset_t wanted = set_of(step, 0);
  const int descriptor = ::signalfd(-1, &wanted, SFD_NONBLOCK);
  run.fill(step.made[0], descriptor);
  return told(fmt::format("${} = signalfd({})", step.made[0], set_text(wanted)),
              result_of(descriptor));
}

Answer read_signals(Run& run, const Step& step) {
  std::array<signalfd_siginfo, 3> read{};
  const std::size_t size = step.one_of<std::size_t>(0, {sizeof read, sizeof read[0], 127});
  const ssize_t result = ::read(run[step.first], read.data(), size);
  const auto text = [&] {
    std::string all;
    for (std::size_t i = 0; i < static_cast<std::size_t>(result) / sizeof read[0]; ++i) {
      const bool is_timer = read[i].ssi_code == SI_TIMER;
      all += fmt::format(" [{} code {} value {} own {}]", read[i].ssi_signo, read[i].ssi_code,
                         read[i].ssi_int,
                         is_timer || read[i].ssi_pid == static_cast<unsigned>(::getpid()));
    }
    return all;
  };
  return told(fmt::format("read(${}, {})", step.first, size), result_with(result, text));
}

Answer poll_signals(Run& run, const Step& step) {
  pollfd asked = {run[step.first], POLLIN | POLLOUT, 0};
  const int result = ::poll(&asked, 1, 0);
  const auto bits = static_cast<std::uint16_t>(asked.revents);
  return told(fmt::format("poll(${})", step.first),
              result_with(result, [&] { return bits_text(bits); }));
}

// One that expires at once is given some time, and stays: its signal may wait.
Answer start_timer(Run&, const Step& step) {
  constexpr useconds_t kSomeTime = 3000;
  sigevent event = {};
  event.sigev_notify = step.one_of<int>(0, {SIGEV_SIGNAL, SIGEV_SIGNAL, SIGEV_NONE, 99});
  event.sigev_signo = signal_of(step, 1);
  event.sigev_value.sival_int = static_cast<int>(step.choice(2, 100));
  const clockid_t clock = step.one_of<clockid_t>(3, {CLOCK_MONOTONIC, CLOCK_REALTIME, 99});
  const bool is_soon = step.choice(4, 2) == 0;
  const std::string call = fmt::format("timer_create({}, {}, {}), {}", clock, event.sigev_notify,
                                       event.sigev_signo, is_soon ? "now" : "later");
  timer_t timer = nullptr;
  std::string result = result_of(::timer_create(clock, &event, &timer));
  if (result != "0") return told(call, result);
  const itimerspec setting = {.it_interval = {}, .it_value = {is_soon ? 0 : 3600, is_soon ? 1 : 0}};
  itimerspec left = {};
  result += ", " + result_of(::timer_settime(timer, 0, &setting, nullptr));
  if (is_soon) ::usleep(kSomeTime);
  result += ", " + result_of(::timer_gettime(timer, &left));
  result += left.it_value.tv_sec > 0 ? " left" : " over";
  result += ", " + result_of(::timer_getoverrun(timer));
  if (!is_soon) result += ", " + result_of(::timer_delete(timer));
  return told(call, result);
}

Answer break_pipe(Run&, const Step&) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return told("pipe", "fails");
  ::close(ends[0]);
  const std::string result = result_of(::write(ends[1], "x", 1));
  ::close(ends[1]);
  return told("write to a pipe that nobody reads", result);
}

}  // namespace fermata::test
