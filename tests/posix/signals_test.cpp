// SPDX-License-Identifier: Apache-2.0

// Signals that a simulated process gets, as code sees them that was not written for Fermata.

#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "fermata/base/sanitizer.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

std::vector<int> handled;
void note(int signal) { handled.push_back(signal); }

sigset_t only(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}

void handle(int signal, int flags = 0) {
  struct sigaction action = {};
  action.sa_handler = &note;
  action.sa_flags = flags;
  ASSERT_EQ(sigaction(signal, &action, nullptr), 0);
}

double seconds() { return static_cast<double>(now().nanoseconds) / 1e9; }

class Signals : public test::WorldFixture {
 protected:
  Signals() { handled.clear(); }
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
  }
};

TEST_F(Signals, AHandlerRunsWhereTheSignalIsRaised) {
  run_alone([] {
    handle(SIGUSR1);
    EXPECT_EQ(raise(SIGUSR1), 0);
    EXPECT_EQ(handled, (std::vector<int>{SIGUSR1}));
    EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
    EXPECT_EQ(handled.size(), 2u);
    EXPECT_EQ(kill(getpid() + 1, SIGUSR1), -1);
    EXPECT_EQ(errno, ESRCH);
    EXPECT_EQ(signal(SIGKILL, &note), SIG_ERR);
  });
}

TEST_F(Signals, WaitBehindTheMask) {
  run_alone([] {
    handle(SIGUSR1);
    const sigset_t blocked = only(SIGUSR1);
    sigset_t before;
    EXPECT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
    raise(SIGUSR1);
    EXPECT_TRUE(handled.empty());
    sigset_t pending;
    sigpending(&pending);
    EXPECT_EQ(sigismember(&pending, SIGUSR1), 1);
    EXPECT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
    EXPECT_EQ(handled.size(), 1u);
  });
}

TEST_F(Signals, AnAlarmInterruptsASleep) {
  run_alone([] {
    handle(SIGALRM);
    EXPECT_EQ(alarm(2), 0u);
    EXPECT_EQ(sleep(10), 8u);
    EXPECT_EQ(handled, (std::vector<int>{SIGALRM}));
    EXPECT_NEAR(seconds(), 2, 0.01);
    alarm(3);
    EXPECT_EQ(pause(), -1);
    EXPECT_EQ(errno, EINTR);
    EXPECT_NEAR(seconds(), 5, 0.01);
  });
}

TEST_F(Signals, SomeCallsGoOnWhereTheHandlerSaysSo) {
  run_alone([] {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    char byte = 0;
    handle(SIGALRM);
    alarm(1);
    EXPECT_EQ(read(ends[0], &byte, 1), -1);
    EXPECT_EQ(errno, EINTR);
    handle(SIGALRM, SA_RESTART);
    alarm(1);
    auto writer = spawn([&] {
      delay(2s);
      EXPECT_EQ(write(ends[1], "x", 1), 1);
    });
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    EXPECT_EQ(handled.size(), 2u);
    await(writer);
    close(ends[0]);
    close(ends[1]);
  });
}

TEST_F(Signals, AThreadWaitsForOne) {
  run_alone([] {
    const sigset_t wanted = only(SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
    pthread_t thread = 0;
    ASSERT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void*) -> void* {
                    const sigset_t set = only(SIGUSR2);
                    int signal = 0;
                    EXPECT_EQ(sigwait(&set, &signal), 0);
                    EXPECT_EQ(signal, SIGUSR2);
                    const timespec second = {1, 0};
                    EXPECT_EQ(sigtimedwait(&set, nullptr, &second), -1);
                    EXPECT_EQ(errno, EAGAIN);
                    return nullptr;
                  },
                  nullptr),
              0);
    delay(1s);
    EXPECT_EQ(pthread_kill(thread, SIGUSR2), 0);
    EXPECT_EQ(pthread_join(thread, nullptr), 0);
    EXPECT_NEAR(seconds(), 2, 0.01);
  });
}

TEST_F(Signals, AHandlerMayPostASemaphore) {
  static sem_t told;
  run_alone([] {
    sem_init(&told, 0, 0);
    struct sigaction action = {};
    action.sa_handler = [](int) { sem_post(&told); };
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    alarm(1);
    EXPECT_EQ(sem_wait(&told), 0);
    EXPECT_NEAR(seconds(), 1, 0.01);
  });
}

TEST_F(Signals, ACancellationIsNoSignal) {
  run_alone([] {
    auto reader = spawn([] {
      std::array<int, 2> ends{};
      ASSERT_EQ(pipe(ends.data()), 0);
      char byte = 0;
      EXPECT_EQ(read(ends[0], &byte, 1), -1);
      EXPECT_EQ(errno, EINTR);
      EXPECT_TRUE(current_coroutine().is_cancellation_requested());
      close(ends[0]);
      close(ends[1]);
    });
    delay(1ms);
    reader.cancel(std::make_exception_ptr(OperationCancelled()));
    delay(1ms);
  });
}

TEST_F(Signals, OneThatNobodyHandlesEndsTheRun) {
  world_->node("main", [] { raise(SIGTERM); });
  world_->run();
  ASSERT_TRUE(world_->failure());
  EXPECT_EQ(world_->failure()->message, "signal 15 (Terminated) ends the process");
}

TEST_F(Signals, AWriteToNobodyRaisesOne) {
  run_alone([] {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    close(ends[0]);
    handle(SIGPIPE);
    EXPECT_EQ(write(ends[1], "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
    EXPECT_EQ(handled, (std::vector<int>{SIGPIPE}));
    close(ends[1]);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    close(ends[0]);
    EXPECT_EQ(send(ends[1], "x", 1, 0), -1);
    EXPECT_EQ(errno, EPIPE);
    EXPECT_EQ(handled.size(), 2u);
    EXPECT_EQ(send(ends[1], "x", 1, MSG_NOSIGNAL), -1);
    EXPECT_EQ(errno, EPIPE);
    EXPECT_EQ(handled.size(), 2u);
    close(ends[1]);
  });
}

TEST_F(Signals, AWriteThatItsReaderLeavesRaisesOneAndTellsItsPart) {
  run_alone([] {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    handle(SIGPIPE);
    auto reader = spawn([&] {
      delay(1s);
      close(ends[0]);
    });
    const std::vector<char> much(100'000);
    EXPECT_EQ(write(ends[1], much.data(), much.size()), 65'536);
    EXPECT_EQ(handled, (std::vector<int>{SIGPIPE}));
    await(reader);
    close(ends[1]);
  });
}

TEST_F(Signals, DatagramsToNobodyRaiseNone) {
  run_alone([] {
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends.data()), 0);
    handle(SIGPIPE);
    shutdown(ends[0], SHUT_RD);
    EXPECT_EQ(write(ends[1], "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
    EXPECT_TRUE(handled.empty());
    close(ends[0]);
    close(ends[1]);
  });
}

// As in a real program, where Fermata ignores it.
TEST_F(Signals, AProcessBeginsWithoutBrokenPipes) {
  run_alone([] {
    struct sigaction action = {};
    EXPECT_EQ(sigaction(SIGPIPE, nullptr, &action), 0);
    EXPECT_EQ(action.sa_handler, SIG_IGN);
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    close(ends[0]);
    EXPECT_EQ(write(ends[1], "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
    close(ends[1]);
  });
}

TEST_F(Signals, ABrokenPipeThatNobodyIgnoresEndsTheRun) {
  world_->node("main", [] {
    signal(SIGPIPE, SIG_DFL);
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    close(ends[0]);
    EXPECT_EQ(write(ends[1], "x", 1), -1);
    close(ends[1]);
  });
  world_->run();
  ASSERT_TRUE(world_->failure());
  EXPECT_EQ(world_->failure()->message, "signal 13 (Broken pipe) of write() ends the process");
}

// As libpq does it, whatever the disposition is.
TEST_F(Signals, ALibraryTakesAwayItsOwnBrokenPipe) {
  run_alone([] {
    for (const sighandler_t disposition : {SIG_DFL, SIG_IGN, &note}) {
      signal(SIGPIPE, disposition);
      const sigset_t blocked = only(SIGPIPE);
      sigset_t before;
      EXPECT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
      std::array<int, 2> ends{};
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
      close(ends[0]);
      EXPECT_EQ(send(ends[1], "x", 1, 0), -1);
      EXPECT_EQ(errno, EPIPE);
      close(ends[1]);
      sigset_t pending;
      EXPECT_EQ(sigpending(&pending), 0);
      EXPECT_EQ(sigismember(&pending, SIGPIPE), 1);
      int taken = 0;
      EXPECT_EQ(sigwait(&blocked, &taken), 0);
      EXPECT_EQ(taken, SIGPIPE);
      EXPECT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
      EXPECT_TRUE(handled.empty());
    }
  });
}

TEST_F(Signals, TheLastOneOfSeveralIsHandledFirst) {
  run_alone([] {
    handle(SIGUSR1);
    handle(SIGUSR2);
    sigset_t both = only(SIGUSR1);
    sigaddset(&both, SIGUSR2);
    sigprocmask(SIG_BLOCK, &both, nullptr);
    raise(SIGUSR2);
    raise(SIGUSR1);
    sigprocmask(SIG_UNBLOCK, &both, nullptr);
    EXPECT_EQ(handled, (std::vector<int>{SIGUSR2, SIGUSR1}));
  });
}

TEST_F(Signals, OneThatAHandlerKeepsOutComesBeforeTheHandlersBelow) {
  run_alone([] {
    handle(SIGUSR1);
    handle(SIGRTMIN);
    sigset_t both = only(SIGUSR1);
    sigaddset(&both, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &both, nullptr);
    raise(SIGUSR1);
    raise(SIGRTMIN);
    raise(SIGRTMIN);
    sigprocmask(SIG_UNBLOCK, &both, nullptr);
    EXPECT_EQ(handled, (std::vector<int>{SIGRTMIN, SIGRTMIN, SIGUSR1}));
  });
}

TEST_F(Signals, ThoseOfRealTimeQueueWithTheirValues) {
  run_alone([] {
    const int signal = SIGRTMIN + 1;
    const sigset_t wanted = only(signal);
    sigprocmask(SIG_BLOCK, &wanted, nullptr);
    sigval value = {};
    for (const int each : {7, 8}) {
      value.sival_int = each;
      EXPECT_EQ(sigqueue(getpid(), signal, value), 0);
    }
    for (const int each : {7, 8}) {
      siginfo_t info = {};
      EXPECT_EQ(sigwaitinfo(&wanted, &info), signal);
      EXPECT_EQ(info.si_code, SI_QUEUE);
      EXPECT_EQ(info.si_pid, getpid());
      EXPECT_EQ(info.si_value.sival_int, each);
    }
    const timespec none = {};
    EXPECT_EQ(sigtimedwait(&wanted, nullptr, &none), -1);
    EXPECT_EQ(errno, EAGAIN);
  });
}

TEST_F(Signals, AThreadIsCancelledWhereItWaits) {
  static std::vector<int> cleaned;
  cleaned.clear();
  run_alone([] {
    pthread_t thread = 0;
    ASSERT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void*) -> void* {
                    struct Cleaner {
                      ~Cleaner() { cleaned.push_back(1); }
                    } const cleaner;
                    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
                    sleep(2);
                    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
                    sleep(100);
                    ADD_FAILURE() << "it should have been cancelled";
                    return nullptr;
                  },
                  nullptr),
              0);
    sleep(1);
    EXPECT_EQ(pthread_cancel(thread), 0);
    void* result = nullptr;
    EXPECT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, PTHREAD_CANCELED);
    EXPECT_EQ(cleaned.size(), 1u);
    EXPECT_NEAR(seconds(), 2, 0.01);
  });
}

TEST_F(Signals, TwoThatComeAtOnceAreTakenByTwoThatWait) {
  run_alone([] {
    static sigset_t both;
    both = only(SIGUSR1);
    sigaddset(&both, SIGUSR2);
    sigprocmask(SIG_BLOCK, &both, nullptr);
    std::array<pthread_t, 2> threads{};
    for (pthread_t& each : threads) {
      const auto body = [](void*) -> void* {
        EXPECT_GT(sigwaitinfo(&both, nullptr), 0);
        EXPECT_EQ(seconds(), 10);
        sleep(1);  // One that ends passes on what it was told of.
        return nullptr;
      };
      EXPECT_EQ(pthread_create(&each, nullptr, body, nullptr), 0);
    }
    for (const int signal : {SIGUSR1, SIGUSR2}) {
      sigevent event = {};
      event.sigev_notify = SIGEV_SIGNAL;
      event.sigev_signo = signal;
      timer_t timer = nullptr;
      EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
      const itimerspec at = {.it_interval = {}, .it_value = {.tv_sec = 20, .tv_nsec = 0}};
      EXPECT_EQ(timer_settime(timer, TIMER_ABSTIME, &at, nullptr), 0);
    }
    for (const pthread_t each : threads) pthread_join(each, nullptr);
  });
}

TEST_F(Signals, WhatAHandlerKeepsOutIsTakenByAnotherThreadThatWaits) {
  run_alone([] {
    static bool is_over = false;
    const int kept_out = SIGRTMIN;
    struct sigaction action = {};
    action.sa_handler = [](int) {
      for (int i = 0; i < 20 && !is_over; ++i) sleep(1);
    };
    sigaddset(&action.sa_mask, kept_out);
    sigaction(SIGUSR1, &action, nullptr);
    action = {};
    action.sa_handler = [](int) { is_over = true; };
    sigaction(kept_out, &action, nullptr);
    pthread_t other = 0;
    const auto body = [](void*) -> void* {
      while (!is_over) pause();
      return nullptr;
    };
    EXPECT_EQ(pthread_create(&other, nullptr, body, nullptr), 0);
    for (const int signal : {kept_out, SIGUSR1}) {
      sigevent event = {};
      event.sigev_notify = signal == SIGUSR1 ? SIGEV_THREAD_ID : SIGEV_SIGNAL;
      event.sigev_signo = signal;
      event._sigev_un._tid = gettid();
      timer_t timer = nullptr;
      EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
      const itimerspec at = {.it_interval = {}, .it_value = {.tv_sec = 20, .tv_nsec = 0}};
      EXPECT_EQ(timer_settime(timer, TIMER_ABSTIME, &at, nullptr), 0);
    }
    sleep(15);
    EXPECT_LT(seconds(), 15);
    pthread_kill(other, kept_out);
    pthread_join(other, nullptr);
  });
}

#ifndef FERMATA_ASAN  // What a jump leaves behind is a leak.
TEST_F(Signals, AHandlerMayJumpOutOfAWaitOfThreads) {
  run_alone([] {
    static sigjmp_buf before;
    static sem_t semaphore;
    static sem_t counted;
    struct sigaction action = {};
    action.sa_handler = [](int) { siglongjmp(before, 1); };
    sigaction(SIGALRM, &action, nullptr);
    sem_init(&semaphore, 0, 0);
    sem_init(&counted, 0, 0);
    if (sigsetjmp(before, 1) == 0) {
      alarm(1);
      timespec end = {};
      clock_gettime(CLOCK_REALTIME, &end);
      end.tv_sec += 100;
      sem_timedwait(&semaphore, &end);
    }
    pthread_t other = 0;
    const auto body = [](void*) -> void* {
      sem_wait(&semaphore);
      sem_post(&counted);
      return nullptr;
    };
    EXPECT_EQ(pthread_create(&other, nullptr, body, nullptr), 0);
    sleep(1);
    timespec set = {};
    clock_gettime(CLOCK_REALTIME, &set);
    ++set.tv_sec;
    EXPECT_EQ(clock_settime(CLOCK_REALTIME, &set), 0);
    sem_post(&semaphore);
    sem_wait(&counted);
    pthread_join(other, nullptr);
    EXPECT_EQ(seconds(), 2);
  });
}
#endif

TEST_F(Signals, AHandlerThatRunsWhileTheLastOneComesToABarrierEndsItsWait) {
  run_alone([] {
    static pthread_barrier_t barrier;
    struct sigaction action = {};
    action.sa_handler = [](int) { sleep(2); };
    sigaction(SIGALRM, &action, nullptr);
    pthread_barrier_init(&barrier, nullptr, 2);
    pthread_t other = 0;
    const auto body = [](void*) -> void* {
      sleep(2);
      pthread_barrier_wait(&barrier);
      return nullptr;
    };
    EXPECT_EQ(pthread_create(&other, nullptr, body, nullptr), 0);
    alarm(1);
    pthread_barrier_wait(&barrier);
    pthread_join(other, nullptr);
    EXPECT_EQ(seconds(), 3);
  });
}

}  // namespace
}  // namespace fermata::sim
