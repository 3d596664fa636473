// SPDX-License-Identifier: Apache-2.0

// Timers of a simulated process that send signals: timer_create() and its relatives.

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <ctime>
#include <functional>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

std::vector<siginfo_t> timed_out;
void note_timeout(int, siginfo_t* info, void*) { timed_out.push_back(*info); }

void handle_timeout(int signal) {
  struct sigaction action = {};
  action.sa_sigaction = &note_timeout;
  action.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(signal, &action, nullptr), 0);
}

timer_t timer_that_sends(int signal, clockid_t clock = CLOCK_MONOTONIC) {
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = signal;
  event.sigev_value.sival_int = 42;
  timer_t timer = nullptr;
  EXPECT_EQ(timer_create(clock, &event, &timer), 0);
  return timer;
}

void set_to(timer_t timer, timespec value, timespec interval = {}, int flags = 0) {
  const itimerspec setting = {.it_interval = interval, .it_value = value};
  EXPECT_EQ(timer_settime(timer, flags, &setting, nullptr), 0);
}

double milliseconds_shown() { return static_cast<double>(now().nanoseconds) / 1e6; }

class PosixTimers : public test::WorldFixture {
 protected:
  PosixTimers() { timed_out.clear(); }
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
  }
};

TEST_F(PosixTimers, SendTheirSignalWithTheirValue) {
  run_alone([] {
    handle_timeout(SIGUSR1);
    const timer_t timer = timer_that_sends(SIGUSR1);
    set_to(timer, {1, 500'000'000});
    EXPECT_EQ(pause(), -1);
    EXPECT_NEAR(milliseconds_shown(), 1500, 1);
    ASSERT_EQ(timed_out.size(), 1u);
    EXPECT_EQ(timed_out[0].si_code, SI_TIMER);
    EXPECT_EQ(timed_out[0].si_value.sival_int, 42);
    EXPECT_EQ(timed_out[0].si_overrun, 0);
    EXPECT_EQ(timer_delete(timer), 0);
    EXPECT_EQ(timer_delete(timer), -1);
    EXPECT_EQ(errno, EINVAL);
  });
}

TEST_F(PosixTimers, CountWhatExpiresWhileTheirSignalWaits) {
  run_alone([] {
    handle_timeout(SIGUSR1);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    const timer_t timer = timer_that_sends(SIGUSR1);
    set_to(timer, {0, 10'000'000}, {0, 10'000'000});
    usleep(55'000);
    pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
    ASSERT_EQ(timed_out.size(), 1u);
    EXPECT_EQ(timed_out[0].si_overrun, 4);
    EXPECT_EQ(timer_getoverrun(timer), 4);
    usleep(10'000);
    EXPECT_EQ(timed_out.size(), 2u);
    EXPECT_EQ(timer_getoverrun(timer), 0);
    timer_delete(timer);
  });
}

TEST_F(PosixTimers, TellWhatIsLeft) {
  run_alone([] {
    handle_timeout(SIGALRM);
    timer_t timer = nullptr;
    ASSERT_EQ(timer_create(CLOCK_REALTIME, nullptr, &timer), 0);
    itimerspec left = {};
    EXPECT_EQ(timer_gettime(timer, &left), 0);
    EXPECT_EQ(left.it_value.tv_sec + left.it_value.tv_nsec, 0);
    set_to(timer, {3, 0}, {1, 0});
    delay(1s);
    EXPECT_EQ(timer_gettime(timer, &left), 0);
    EXPECT_NEAR(static_cast<double>(left.it_value.tv_sec) +
                    1e-9 * static_cast<double>(left.it_value.tv_nsec),
                2, 0.01);
    EXPECT_EQ(left.it_interval.tv_sec, 1);
    const itimerspec stopped = {};
    EXPECT_EQ(timer_settime(timer, 0, &stopped, &left), 0);
    EXPECT_EQ(left.it_interval.tv_sec, 1);
    delay(5s);
    EXPECT_TRUE(timed_out.empty());
    const itimerspec wrong = {.it_interval = {}, .it_value = {0, 1'000'000'000}};
    EXPECT_EQ(timer_settime(timer, 0, &wrong, nullptr), -1);
    EXPECT_EQ(errno, EINVAL);
    timer_delete(timer);
  });
}

TEST_F(PosixTimers, GoByATimeOfTheDay) {
  run_alone([] {
    handle_timeout(SIGUSR1);
    const timer_t timer = timer_that_sends(SIGUSR1, CLOCK_REALTIME);
    timespec end = {};
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 2;
    set_to(timer, end, {}, TIMER_ABSTIME);
    EXPECT_EQ(pause(), -1);
    EXPECT_NEAR(milliseconds_shown(), 2000, 1);
    set_to(timer, {1, 0}, {}, TIMER_ABSTIME);  // Long ago.
    EXPECT_EQ(sleep(1), 1u);
    EXPECT_EQ(timed_out.size(), 2u);
    timer_delete(timer);
  });
}

TEST_F(PosixTimers, MaySendNothing) {
  run_alone([] {
    sigevent event = {};
    event.sigev_notify = SIGEV_NONE;
    timer_t timer = nullptr;
    ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    set_to(timer, {1, 0});
    delay(2s);
    itimerspec left = {};
    EXPECT_EQ(timer_gettime(timer, &left), 0);
    EXPECT_EQ(left.it_value.tv_sec + left.it_value.tv_nsec, 0);
    set_to(timer, {1, 0}, {1, 0});
    delay(2500ms);
    EXPECT_EQ(timer_gettime(timer, &left), 0);
    EXPECT_NEAR(static_cast<double>(left.it_value.tv_nsec), 5e8, 1e6);
    timer_delete(timer);
  });
}

TEST_F(PosixTimers, SendTheirSignalToOneThread) {
  run_alone([] {
    handle_timeout(SIGUSR1);
    std::thread([] {
      sigevent event = {};
      event.sigev_notify = SIGEV_THREAD_ID;
      event.sigev_signo = SIGUSR1;
      event._sigev_un._tid = gettid();
      timer_t timer = nullptr;
      ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
      set_to(timer, {1, 0});
      EXPECT_EQ(usleep(2'000'000), -1);
      EXPECT_EQ(timed_out.size(), 1u);
      timer_delete(timer);
      event._sigev_un._tid = 999'999;
      EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), -1);
      EXPECT_EQ(errno, EINVAL);
    }).join();
    EXPECT_NEAR(milliseconds_shown(), 1000, 1);
  });
}

// Their signal is sent when somebody wants it, and counts what was missed.
TEST_F(PosixTimers, RestWhileTheirSignalIsIgnored) {
  run_alone([] {
    signal(SIGUSR1, SIG_IGN);
    const timer_t timer = timer_that_sends(SIGUSR1);
    set_to(timer, {0, 1}, {0, 1});
    usleep(1000);
    handle_timeout(SIGUSR1);
    usleep(1);
    ASSERT_GE(timed_out.size(), 1u);
    EXPECT_GE(timed_out[0].si_overrun, 999'000);
    timer_delete(timer);
  });
}

TEST_F(PosixTimers, AreReadFromADescriptor) {
  run_alone([] {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
    const int descriptor = signalfd(-1, &wanted, 0);
    const timer_t timer = timer_that_sends(SIGRTMIN);
    set_to(timer, {1, 0}, {1, 0});
    signalfd_siginfo read_info = {};
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(read(descriptor, &read_info, sizeof read_info), ssize_t{sizeof read_info});
      EXPECT_EQ(read_info.ssi_code, SI_TIMER);
      EXPECT_EQ(read_info.ssi_int, 42);
    }
    EXPECT_NEAR(milliseconds_shown(), 2000, 1);
    timer_delete(timer);
    close(descriptor);
  });
}

TEST_F(PosixTimers, RefuseWhatLinuxRefuses) {
  run_alone([] {
    timer_t timer = nullptr;
    EXPECT_EQ(timer_create(99, nullptr, &timer), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(timer_create(CLOCK_MONOTONIC_RAW, nullptr, &timer), -1);
    EXPECT_EQ(errno, EOPNOTSUPP);
    sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(timer_gettime(timer, nullptr), -1);
    EXPECT_EQ(errno, EINVAL);
  });
}

TEST_F(PosixTimers, EndTheRunWhenNobodyHandlesTheirSignal) {
  world_->node("main", [] {
    set_to(timer_that_sends(SIGUSR1), {1, 0});
    pause();
  });
  world_->run();
  ASSERT_TRUE(world_->failure());
  EXPECT_EQ(world_->failure()->message,
            "signal 10 (User defined signal 1) of timer_settime() ends the process");
}

TEST_F(PosixTimers, OfAThreadThatIsMadeFailTheRun) {
  world_->node("main", [] {
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD;
    timer_t timer = nullptr;
    EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), -1);
    EXPECT_EQ(errno, ENOSYS);
  });
  world_->run();
  ASSERT_TRUE(world_->failure());
  EXPECT_NE(world_->failure()->message.find(
                "calls timer_create(SIGEV_THREAD), which is not served in simulated code"),
            std::string::npos);
}

TEST_F(PosixTimers, MayBeSetToNever) {
  run_alone([] {
    constexpr timespec kNever = {.tv_sec = std::numeric_limits<time_t>::max(), .tv_nsec = 0};
    handle_timeout(SIGUSR1);
    for (const clockid_t clock : {CLOCK_MONOTONIC, CLOCK_REALTIME}) {
      for (const int flags : {0, TIMER_ABSTIME}) {
        set_to(timer_that_sends(SIGUSR1, clock), kNever, {}, flags);
        const int descriptor = timerfd_create(clock, 0);
        const itimerspec setting = {.it_interval = kNever, .it_value = kNever};
        EXPECT_EQ(timerfd_settime(descriptor, flags, &setting, nullptr), 0);
        itimerspec left = {};
        EXPECT_EQ(timerfd_gettime(descriptor, &left), 0);
        EXPECT_GT(left.it_value.tv_sec, 1'000'000'000);
      }
    }
    timer_t once = timer_that_sends(SIGUSR1);
    set_to(once, {.tv_sec = 1, .tv_nsec = 0}, kNever);
    timespec left = {};
    EXPECT_EQ(nanosleep(&kNever, &left), -1);
    EXPECT_EQ(errno, EINTR);
    EXPECT_GT(left.tv_sec, 1'000'000'000);
    sleep(1'000);
    EXPECT_EQ(timed_out.size(), 1u);
    EXPECT_EQ(now().nanoseconds, Duration(1'001s).count());
  });
}

TEST_F(PosixTimers, WaitsOfThreadsMayHaveAnEndThatNeverComes) {
  run_alone([] {
    constexpr timespec kNever = {.tv_sec = std::numeric_limits<time_t>::max(), .tv_nsec = 0};
    static sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    pthread_t other = 0;
    const auto body = [](void*) -> void* {
      sleep(1);
      for (int i = 0; i < 2; ++i) sem_post(&semaphore);
      return nullptr;
    };
    EXPECT_EQ(pthread_create(&other, nullptr, body, nullptr), 0);
    EXPECT_EQ(sem_timedwait(&semaphore, &kNever), 0);
    EXPECT_EQ(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &kNever), 0);
    pthread_join(other, nullptr);
    EXPECT_EQ(now().nanoseconds, Duration(1s).count());
  });
}

}  // namespace
}  // namespace fermata::sim
