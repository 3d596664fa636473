// SPDX-License-Identifier: Apache-2.0

// What waits of foreign code do when the wall clock of their simulated machine is set meanwhile.

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <mutex>
#include <thread>

#include "fermata/core/suspend.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

timespec wall_in(Duration span) {
  timespec time = {};
  ::clock_gettime(CLOCK_REALTIME, &time);
  const Duration sum = std::chrono::nanoseconds(time.tv_nsec) + span;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(sum);
  return {.tv_sec = time.tv_sec + seconds.count(), .tv_nsec = (sum - seconds).count()};
}

void set_wall_ahead(Duration by) {
  const timespec set = wall_in(by);
  EXPECT_EQ(::clock_settime(CLOCK_REALTIME, &set), 0);
}

class ClockSteps : public test::WorldFixture {
 protected:
  /// Runs `wait` alone, with the wall clock set by `by` after a second, and returns how long it has
  /// taken.
  Duration time_of(Duration by, const std::function<void()>& wait) {
    begin(1);
    Duration taken{};
    Node& node = world_->node("main", [&] {
      const Instant begun = now();
      wait();
      taken = now() - begun;
    });
    world_->at(1s, [&node, by] { node.step_wall_clock(by); });
    run();
    return taken;
  }
  /// Expects that `wait`, which is until ten seconds from now on the wall clock, ends when that
  /// clock shows it.
  void expect_absolute(const std::function<void()>& wait) {
    EXPECT_EQ(time_of(0s, wait), 10s);
    EXPECT_EQ(time_of(4s, wait), 6s);
    EXPECT_EQ(time_of(-4s, wait), 14s);
    EXPECT_EQ(time_of(20s, wait), 1s);
  }
  void expect_relative(const std::function<void()>& wait) {
    for (const Duration by : {0s, 4s, -4s, 20s}) EXPECT_EQ(time_of(by, wait), 10s);
  }
};

TEST_F(ClockSteps, ASleepUntilATimeOfDayEndsAtThatTime) {
  expect_absolute([] {
    const timespec end = wall_in(10s);
    EXPECT_EQ(::clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &end, nullptr), 0);
  });
}

TEST_F(ClockSteps, OtherSleepsTakeNoNotice) {
  expect_relative([] {
    const timespec span = {.tv_sec = 10, .tv_nsec = 0};
    EXPECT_EQ(::clock_nanosleep(CLOCK_REALTIME, 0, &span, nullptr), 0);
  });
  expect_relative([] { ::sleep(10); });
  expect_relative([] { std::this_thread::sleep_until(std::chrono::steady_clock::now() + 10s); });
}

TEST_F(ClockSteps, AWaitForAConditionEndsAtItsTimeOfDay) {
  expect_absolute([] {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    const timespec end = wall_in(10s);
    ::pthread_mutex_lock(&mutex);
    EXPECT_EQ(::pthread_cond_timedwait(&condition, &mutex, &end), ETIMEDOUT);
    ::pthread_mutex_unlock(&mutex);
  });
  expect_relative([] {
    std::mutex mutex;
    std::condition_variable condition;
    std::unique_lock lock(mutex);
    EXPECT_EQ(condition.wait_for(lock, 10s), std::cv_status::timeout);
  });
}

TEST_F(ClockSteps, AWaitForASemaphoreEndsAtItsTimeOfDay) {
  expect_absolute([] {
    sem_t semaphore;
    ::sem_init(&semaphore, 0, 0);
    const timespec end = wall_in(10s);
    EXPECT_EQ(::sem_timedwait(&semaphore, &end), -1);
    EXPECT_EQ(errno, ETIMEDOUT);
  });
}

TEST_F(ClockSteps, AHandlerIsNoEndOfTheTime) {
  expect_absolute([] {
    std::signal(SIGUSR1, [](int) {});
    const timespec end = wall_in(10s);
    EXPECT_EQ(::clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &end, nullptr), 0);
  });
}

TEST_F(ClockSteps, WhoIsWokenAtTheSameTimeIsWoken) {
  begin(1);
  Node& node = world_->node("main", [&] {
    sem_t semaphore;
    ::sem_init(&semaphore, 0, 0);
    std::thread poster([&] {
      ::sleep(1);
      ::sem_post(&semaphore);
    });
    const timespec end = wall_in(10s);
    EXPECT_EQ(::sem_timedwait(&semaphore, &end), 0);
    poster.join();
  });
  world_->at(1s, [&node] { node.step_wall_clock(5s); });
  run();
}

void read_timer(clockid_t clock, int flags, std::uint64_t times) {
  const int timer = ::timerfd_create(clock, 0);
  timespec end = {.tv_sec = 10, .tv_nsec = 0};
  if (flags != 0) end = wall_in(10s);
  const itimerspec setting = {.it_interval = {.tv_sec = 0, .tv_nsec = 0}, .it_value = end};
  EXPECT_EQ(::timerfd_settime(timer, flags, &setting, nullptr), 0);
  std::uint64_t expired = 0;
  EXPECT_EQ(::read(timer, &expired, sizeof expired), 8);
  EXPECT_EQ(expired, times);
  ::close(timer);
}

TEST_F(ClockSteps, ATimerForATimeOfDayExpiresThen) {
  expect_absolute([] { read_timer(CLOCK_REALTIME, TFD_TIMER_ABSTIME, 1); });
  expect_relative([] { read_timer(CLOCK_REALTIME, 0, 1); });
  expect_relative([] { read_timer(CLOCK_MONOTONIC, 0, 1); });
}

TEST_F(ClockSteps, ATimerMayBeCancelledByThem) {
  for (const Duration by : {Duration(4s), Duration(-4s)}) {
    const Duration taken = time_of(by, [] {
      const int timer = ::timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
      const itimerspec setting = {.it_interval = {.tv_sec = 0, .tv_nsec = 0},
                                  .it_value = wall_in(10s)};
      constexpr int kFlags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
      EXPECT_EQ(::timerfd_settime(timer, kFlags, &setting, nullptr), 0);
      pollfd asked = {.fd = timer, .events = POLLIN, .revents = 0};
      EXPECT_EQ(::poll(&asked, 1, -1), 1);
      std::uint64_t expired = 0;
      EXPECT_EQ(::read(timer, &expired, sizeof expired), -1);
      EXPECT_EQ(errno, ECANCELED);
      EXPECT_EQ(::read(timer, &expired, sizeof expired), -1);
      EXPECT_EQ(errno, EAGAIN);
      set_wall_ahead(1s);
      EXPECT_EQ(::timerfd_settime(timer, kFlags, &setting, nullptr), -1);  // And it is set.
      EXPECT_EQ(errno, ECANCELED);
      EXPECT_EQ(::poll(&asked, 1, -1), 1);
      EXPECT_EQ(::read(timer, &expired, sizeof expired), 8);
      EXPECT_EQ(expired, 1u);
      ::close(timer);
    });
    EXPECT_EQ(taken, 9s - by);
  }
}

TEST_F(ClockSteps, AProgramMaySetItsClock) {
  begin(1);
  world_->node("main", [] {
    timespec set = {.tv_sec = 2'000'000'000, .tv_nsec = 5};
    EXPECT_EQ(::clock_settime(CLOCK_REALTIME, &set), 0);
    EXPECT_EQ(wall_clock().nanoseconds, 2'000'000'000'000'000'005);
    EXPECT_EQ(std::chrono::system_clock::now().time_since_epoch().count(),
              2'000'000'000'000'000'005);
    const timeval other = {.tv_sec = 1'700'000'000, .tv_usec = 7};
    EXPECT_EQ(::settimeofday(&other, nullptr), 0);
    EXPECT_EQ(wall_clock().nanoseconds, 1'700'000'000'000'007'000);
    set.tv_nsec = 1'000'000'000;
    EXPECT_EQ(::clock_settime(CLOCK_REALTIME, &set), -1);
    EXPECT_EQ(errno, EINVAL);
    set = {.tv_sec = 1, .tv_nsec = 0};  // The machine has been up for longer.
    EXPECT_EQ(::clock_settime(CLOCK_REALTIME, &set), -1);
    EXPECT_EQ(errno, EINVAL);
    set = {.tv_sec = 2'000'000'000, .tv_nsec = 0};
    for (const clockid_t clock : {CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI}) {
      EXPECT_EQ(::clock_settime(clock, &set), -1);
      EXPECT_EQ(errno, EINVAL);
    }
    const timeval wrong = {.tv_sec = 1'700'000'000, .tv_usec = 1'000'000};
    EXPECT_EQ(::settimeofday(&wrong, nullptr), -1);
    EXPECT_EQ(errno, EINVAL);
  });
  run();
}

TEST_F(ClockSteps, AThreadSetsTheClockThatAnotherOneWaitsFor) {
  begin(1);
  world_->node("main", [] {
    const Instant begun = now();
    std::thread setter([] {
      ::sleep(1);
      set_wall_ahead(7s);
    });
    const timespec end = wall_in(10s);
    EXPECT_EQ(::clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &end, nullptr), 0);
    EXPECT_EQ(now() - begun, 3s);
    setter.join();
  });
  run();
}

TEST_F(ClockSteps, AFaultMakesTimesOfDayComeEarlierOrLater) {
  FaultSet faults = FaultSet::none();
  faults.add(Fault::ClockStep);
  int early = 0;
  int late = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    begin(seed, faults);
    world_
        ->node("main",
               [&] {
                 const Instant begun = now();
                 std::thread other([] {
                   for (int i = 0; i < 9; ++i) ::sleep(1);
                 });
                 const timespec end = wall_in(10s);
                 EXPECT_EQ(::clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &end, nullptr), 0);
                 if (now() - begun < 10s) ++early;
                 if (now() - begun > 10s) ++late;
                 timespec shown = {};
                 ::clock_gettime(CLOCK_REALTIME, &shown);
                 other.join();
               })
        .may_step_clock();
    run();
  }
  EXPECT_GT(early, 0);
  EXPECT_GT(late, 0);
}

TEST_F(ClockSteps, WhatIsLeftOfASleepTakesNoNotice) {
  expect_relative([] {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &action, nullptr);
    ::alarm(3);
    const timespec span = {.tv_sec = 100, .tv_nsec = 0};
    timespec left = {};
    EXPECT_EQ(::clock_nanosleep(CLOCK_REALTIME, 0, &span, &left), EINTR);
    EXPECT_EQ(left.tv_sec, 97);
    ::sleep(7);
  });
}

}  // namespace
}  // namespace fermata::sim
