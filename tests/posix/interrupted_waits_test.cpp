// SPDX-License-Identifier: Apache-2.0

// A law about all that foreign code waits for in a simulated machine. Some threads and coroutines
// wait; they are woken, cancelled and sent signals in one moment or near it, or their time is over.
// Each ends its wait once, for a reason that there is; no cancellation is lost, and no wake.

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "fermata/core/assertions.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/run/sim_test.hpp"
#include "fermata/sync/await.hpp"
#include "tests/posix/wake_sources.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::WakeSource;

class Waiter;
std::vector<std::shared_ptr<Waiter>> waiters;

/// One who waits for a token, in a thread or in a coroutine.
class Waiter {
 public:
  Waiter(std::shared_ptr<WakeSource> source, WakeSource::Limit limit)
      : source_(std::move(source)), limit_(limit) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  virtual ~Waiter() = default;

  /// Begins to wait, and keeps `self` as long.
  virtual void begin(std::shared_ptr<Waiter> self) = 0;
  /// Cancels it, unless it has ended.
  virtual void cancel() = 0;
  /// Waits for its end.
  virtual void join() = 0;
  /// Whether the call that it waits in has to end when it is cancelled.
  [[nodiscard]] virtual bool must_end_when_cancelled() const = 0;

  void send_signal() {
    if (waits()) ::pthread_kill(number_, SIGUSR1);
  }
  void handle_signal() { ++handled_; }
  [[nodiscard]] bool is(pthread_t number) const { return has_begun_ && number_ == number; }
  [[nodiscard]] bool waits() const { return has_begun_ && !has_ended_; }
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  [[nodiscard]] bool has_taken() const { return has_taken_; }
  [[nodiscard]] bool is_cancelled() const { return is_cancelled_; }

 protected:
  void has_control() {
    number_ = ::pthread_self();
    source_->prepare();
    has_begun_ = true;
  }
  void end() { has_ended_ = true; }
  /// Until it has a token, or a reason to leave.
  void wait();

  std::shared_ptr<WakeSource> source_;
  bool may_be_cancelled_ = false;  // Somebody is about to.
  bool is_cancelled_ = false;

 private:
  WakeSource::Limit limit_;
  pthread_t number_ = 0;
  bool has_begun_ = false;
  bool has_ended_ = false;
  bool has_taken_ = false;
  int handled_ = 0;
};

void Waiter::wait() {
  for (;;) {
    const int handled = handled_;
    const Instant begun = now();
    const int code = source_->take(limit_);
    switch (code) {
      case 0:
        FERMATA_ALWAYS(!has_taken_, "it is woken once");
        has_taken_ = true;
        return;
      case EINTR:
        FERMATA_ALWAYS(handled_ > handled || may_be_cancelled_ || source_->may_be_taken(),
                       "an interruption has a reason");
        break;
      case ECANCELED:
        FERMATA_ALWAYS(may_be_cancelled_, "a cancellation has a reason");
        return;
      default:
        FERMATA_ALWAYS_EQ(code, ETIMEDOUT, "there is no other error");
        FERMATA_ALWAYS(limit_ && now() - begun >= *limit_, "its time is over");
        return;
    }
  }
}

class WaitingCoroutine final : public Waiter {
 public:
  using Waiter::Waiter;

  void begin(std::shared_ptr<Waiter> self) override {
    coroutine_ = spawn("waiter", [this, self = std::move(self)] { run(); });
  }
  void cancel() override {
    if (has_ended()) return;
    may_be_cancelled_ = is_cancelled_ = true;
    coroutine_.cancel();
  }
  void join() override {
    try {
      await(coroutine_);
    } catch (const Cancellation&) {  // Before it had begun.
    }
    FERMATA_ALWAYS(has_ended() || is_cancelled(), "a coroutine ends");
  }
  [[nodiscard]] bool must_end_when_cancelled() const override { return source_->ends_coroutines(); }

 private:
  void run() {
    has_control();
    bool is_told = false;
    try {
      wait();  // Who has made many calls in vain is told there.
      suspend();
    } catch (const Cancellation&) {
      is_told = true;
    }
    end();
    FERMATA_ALWAYS(is_told == is_cancelled(), "a coroutine is told that it is cancelled");
  }

  Coroutine<void> coroutine_;
};

class WaitingThread final : public Waiter {
 public:
  using Waiter::Waiter;

  void begin(std::shared_ptr<Waiter> self) override {
    ::pthread_create(&thread_, nullptr, &WaitingThread::start,
                     new std::shared_ptr<Waiter>(std::move(self)));
  }
  void cancel() override {
    if (has_ended()) return;
    may_be_cancelled_ = true;
    ::pthread_cancel(thread_);
    if (!has_ended()) is_cancelled_ = true;
  }
  void join() override {
    void* result = nullptr;
    FERMATA_ALWAYS_EQ(::pthread_join(thread_, &result), 0, "a thread can be joined");
    FERMATA_ALWAYS(has_ended(), "a thread ends");
    const bool has_been = result == PTHREAD_CANCELED;
    FERMATA_ALWAYS(!has_been || may_be_cancelled_, "a thread is cancelled by somebody");
    FERMATA_ALWAYS(has_been || !is_cancelled(), "a thread that is cancelled ends cancelled");
  }
  [[nodiscard]] bool must_end_when_cancelled() const override { return source_->ends_threads(); }

 private:
  struct End {
    WaitingThread& waiter;
    ~End() { waiter.end(); }
  };
  static void* start(void* self) {
    const std::unique_ptr<std::shared_ptr<Waiter>> kept(
        static_cast<std::shared_ptr<Waiter>*>(self));
    auto& waiter = static_cast<WaitingThread&>(**kept);
    const End at_end{waiter};
    waiter.has_control();
    waiter.wait();
    ::pthread_testcancel();
    return nullptr;
  }

  pthread_t thread_ = 0;
};

void handle_signal(int) {
  for (const auto& each : waiters) {
    if (each->is(::pthread_self())) each->handle_signal();
  }
}

// --- the law ---

void begin_waiting(const std::shared_ptr<WakeSource>& source) {
  WakeSource::Limit limit;
  if (source->has_limits() && random(2) == 1) limit = std::chrono::milliseconds(1 + random(2));
  if (random(2) == 1) {
    waiters.push_back(std::make_shared<WaitingThread>(source, limit));
  } else {
    waiters.push_back(std::make_shared<WaitingCoroutine>(source, limit));
  }
  waiters.back()->begin(waiters.back());
}

/// What happens to those who wait. Returns how many tokens it has given.
int meddle(WakeSource& source) {
  int given = 0;
  const std::uint64_t times = 1 + random(6);
  for (std::uint64_t i = 0; i < times; ++i) {
    Waiter& waiter = *waiters[random(waiters.size())];
    switch (random(4)) {
      case 0:
        waiter.cancel();
        break;
      case 1:
        waiter.send_signal();
        break;
      default:
        if (source.give()) ++given;
    }
    if (random(3) == 0) delay(std::chrono::milliseconds(random(3)));
  }
  return given;
}

std::ptrdiff_t count_waiting() {
  return std::count_if(waiters.begin(), waiters.end(),
                       [](const auto& each) { return !each->has_ended() && each->waits(); });
}

/// Wakes all who are left. Returns how many tokens it has given.
int wake_the_rest(WakeSource& source) {
  int given = 0;
  for (const auto& each : waiters) {
    FERMATA_ALWAYS(!each->waits() || !each->is_cancelled() || !each->must_end_when_cancelled(),
                   "nobody waits who has been cancelled");
  }
  while (const std::ptrdiff_t waiting = count_waiting()) {
    FERMATA_ALWAYS(!source.try_take(), "nobody waits for what is there");
    if (source.give()) ++given;
    delay(1s);
    FERMATA_ALWAYS_LT(count_waiting(), waiting, "who waits is woken");
  }
  return given;
}

void note_signals() {
  struct sigaction action = {};
  action.sa_handler = handle_signal;
  action.sa_flags = random(2) == 1 ? SA_RESTART : 0;
  ::sigaction(SIGUSR1, &action, nullptr);
}

/// How many tokens somebody has taken, or could still take.
int count_taken(WakeSource& source) {
  int taken = static_cast<int>(std::count_if(waiters.begin(), waiters.end(),
                                             [](const auto& each) { return each->has_taken(); }));
  while (source.try_take()) ++taken;
  return taken;
}

template <class Source, class... Arguments>
void lose_nothing(World& world, Arguments... arguments) {
  world.heal();
  const struct Forget {
    ~Forget() { waiters.clear(); }
  } at_end;
  const auto source = std::make_shared<Source>(arguments...);
  note_signals();
  const std::uint64_t count = 1 + random(3);
  for (std::uint64_t i = 0; i < count; ++i) begin_waiting(source);
  if (random(4) != 0) delay(1ms);
  int given = meddle(*source);
  delay(10s);
  given += wake_the_rest(*source);
  for (const auto& each : waiters) each->join();
  if (source->counts()) {
    FERMATA_ALWAYS_EQ(count_taken(*source), given, "each wake is taken once");
  }
}

SIM_TEST(InterruptedWaits, ForBytesOfAPipeLoseNothing) { lose_nothing<test::Bytes>(world, true); }

SIM_TEST(InterruptedWaits, ForBytesOfASocketLoseNothing) {
  lose_nothing<test::Bytes>(world, false);
}

SIM_TEST(InterruptedWaits, InPollLoseNothing) { lose_nothing<test::PolledBytes>(world); }

SIM_TEST(InterruptedWaits, InEpollLoseNothing) { lose_nothing<test::EpolledBytes>(world); }

SIM_TEST(InterruptedWaits, ForEventsLoseNothing) { lose_nothing<test::Events>(world); }

SIM_TEST(InterruptedWaits, ForConnectionsLoseNothing) { lose_nothing<test::Connections>(world); }

SIM_TEST(InterruptedWaits, ForAConditionLoseNothing) { lose_nothing<test::Condition>(world); }

SIM_TEST(InterruptedWaits, ForASemaphoreLoseNothing) { lose_nothing<test::Semaphore>(world); }

SIM_TEST(InterruptedWaits, ForAFutexLoseNothing) { lose_nothing<test::Futex>(world); }

SIM_TEST(InterruptedWaits, ForASignalLoseNothing) { lose_nothing<test::AwaitedSignal>(world); }

SIM_TEST(InterruptedWaits, ForALockOfAFileLoseNothing) { lose_nothing<test::FileLock>(world); }

SIM_TEST(InterruptedWaits, ForAMutexLoseNothing) { lose_nothing<test::Mutex>(world); }

SIM_TEST(InterruptedWaits, WhileASleepGoesOnLoseNothing) { lose_nothing<test::Sleep>(world); }

}  // namespace
}  // namespace fermata::sim
