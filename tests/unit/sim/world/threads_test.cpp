// SPDX-License-Identifier: Apache-2.0

// Simulated threads: their order is drawn, and what depends on it is found.

#include "fermata/sim/world/threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/io/thread.hpp"
#include "fermata/io/thread_channel.hpp"
#include "fermata/io/thread_pool.hpp"
#include "fermata/io/trigger.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

constexpr const char* kStrategies[] = {"random", "pct:3", "fifo"};

ExploreResult explored(const char* strategy, std::uint64_t runs, std::function<void(World&)> body) {
  ExploreOptions options;
  options.name = "Threads.Explored";
  options.runs = runs;
  options.strategy = strategy;
  options.check_determinism = 16;
  options.second_lives = true;
  return explore(options, std::move(body));
}

/// Explores `body`, in which nothing may fail.
void expect_sound(std::uint64_t runs, const std::function<void(World&)>& body) {
  for (const char* strategy : kStrategies) {
    const ExploreResult result = explored(strategy, runs, body);
    ASSERT_FALSE(result.found) << strategy << ": " << result.found->failure.message << "\n"
                               << result.found->failure.explanation << result.found->output;
  }
}

/// What `body` has done wrong in the first run that fails; empty when none does.
std::string found(std::uint64_t runs, const std::function<void(World&)>& body) {
  const ExploreResult result = explored("random", runs, body);
  return result.found ? result.found->failure.message : std::string();
}

// --- one world ---

class ThreadsTest : public ::testing::Test {
 protected:
  void SetUp() override { decisions_.begin(1); }

  void run() {
    world_.run();
    if (world_.failure()) ADD_FAILURE() << world_.failure()->message;
  }

  std::unique_ptr<Strategy> strategy_ = make_strategy("fifo");
  Decisions decisions_{*strategy_};
  World world_{decisions_, {.faults = FaultSet::none(), .full_audit = true}};
};

TEST_F(ThreadsTest, ShareTheDiskAndTheTimeOfTheirMachine) {
  world_.node("main", [] {
    delay(5ms);
    const auto thread = spawn_thread([] {
      const Instant begun = now();
      delay(10ms);
      fs::write_file("note", "from the thread");
      return begun;
    });
    EXPECT_EQ(await(thread), Instant{} + 5ms);
    EXPECT_GE(now(), Instant{} + 15ms);
    EXPECT_EQ(fs::read_file("note"), "from the thread");
  });
  run();
}

TEST_F(ThreadsTest, WhyAPoolHasLostOneIsInTheLog) {
  world_.node("main", [] {
    ThreadPool pool(
        {.name = "mail", .workers = 1, .on_thread_start = [] { throw Error("no licence"); }});
    pool.join();
  });
  run();
  const std::vector<std::string>& log = world_.log();
  const auto tells = [](const std::string& line) {
    return line.ends_with(
        "a thread of pool 'mail' has failed: fermata::RemoteError: fermata::Error: no licence");
  };
  EXPECT_TRUE(std::any_of(log.begin(), log.end(), tells)) << ::testing::PrintToString(log);
}

TEST_F(ThreadsTest, ACrashTakesThemDown) {
  int begun = 0;
  int unwound = 0;
  struct Mark {
    int& unwound;
    ~Mark() { ++unwound; }
  };
  Node& node = world_.node("main", [&] {
    if (++begun == 2) return;
    (void)spawn_thread([&] {
      const Mark mark{unwound};
      (void)spawn_thread([&] {
        const Mark inner{unwound};
        delay(1h);
        ADD_FAILURE() << "it runs after the crash";
      });
      delay(1h);
    });
    delay(1h);
  });
  world_.at(1s, [&] { node.crash(); });
  world_.at(2s, [&] { node.restart(); });
  run();
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(unwound, 2);
}

TEST_F(ThreadsTest, AreUnwoundWithARunThatFails) {
  bool unwound = false;
  world_.node("main", [&] {
    (void)spawn_thread([&] {
      struct Mark {
        bool& unwound;
        ~Mark() { unwound = true; }
      } const mark{unwound};
      delay(1h);
    });
    delay(1ms);
    throw Error("as planned");
  });
  world_.run();
  ASSERT_TRUE(world_.failure());
  EXPECT_TRUE(unwound);
}

// The program has been woken, and the thread has computed into the future: nothing lets it in.
TEST_F(ThreadsTest, AreUnwoundBeforeTheProgramThatHasFailedTheRun) {
  bool unwound = false;
  world_.node("main", [&] {
    const auto thread = spawn_thread([&] {
      struct Mark {
        bool& unwound;
        ~Mark() { unwound = true; }
      } const mark{unwound};
      consume(10s);
      delay(1h);
    });
    delay(1s);
    Trigger trigger;
    trigger.fire();
    world_.fail(Verdict::Safety, "wrong");
    trigger.wait();
  });
  world_.run();
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->message, "wrong");
  EXPECT_TRUE(unwound);
}

TEST_F(ThreadsTest, AreUnwoundBeforeTheProgramThatComesToALimit) {
  world_.reset({.step_limit = 50, .faults = FaultSet::none()});
  bool frame_is_there = false;
  bool unwound_in_time = false;
  struct Flag {
    explicit Flag(bool& value) : up(value) { up = true; }
    ~Flag() { up = false; }
    bool& up;
  };
  world_.node("main", [&] {
    const Flag frame(frame_is_there);
    (void)spawn_thread([&] {
      struct Mark {
        const bool& frame_is_there;
        bool& unwound_in_time;
        ~Mark() { unwound_in_time = frame_is_there; }
      } const mark{frame_is_there, unwound_in_time};
      delay(1h);
    });
    for (;;) suspend();
  });
  world_.run();
  ASSERT_TRUE(world_.failure());
  EXPECT_TRUE(world_.failure()->by_limit);
  EXPECT_TRUE(unwound_in_time);
}

TEST_F(ThreadsTest, LetADestructorOutOfALineWhenTheRunIsOver) {
  bool got_out = false;
  world_.node("main", [&] {
    ThreadChannel<int> channel(1);
    struct LastItem {
      ThreadChannel<int>& channel;
      bool& got_out;
      ~LastItem() {
        try {
          protect_in_destructor([this] { static_cast<void>(channel.recv()); });
        } catch (const ForcedUnwind&) {
          got_out = true;
        }
      }
    } const last{channel, got_out};
    world_.fail(Verdict::Safety, "wrong");
    delay(1h);
  });
  world_.run();
  EXPECT_TRUE(got_out);
}

TEST_F(ThreadsTest, AreNoNodes) {
  int served = 0;
  world_.service("server", [&] {
    const auto thread = spawn_thread([&] {
      try {
        delay(24h);
      } catch (const Cancellation&) {
        ++served;
        throw;
      }
    });
    await(thread);
  });
  world_.node("main", [&] {
    const auto thread = spawn_thread([] { delay(1h); });
    world_.run();  // There is nobody else to wait for.
    EXPECT_EQ(now(), Instant{});
    await(thread);
    EXPECT_THROW((void)world_.node("main/thread"), UsageError);
  });
  run();
  EXPECT_EQ(served, 1) << "the service's thread ends with it";
}

TEST_F(ThreadsTest, WaitForOneAnotherForEverIsFound) {
  world_.node("main", [] {
    const ThreadChannel<int> never(1);
    const auto thread = spawn_thread([never] { (void)never.recv(); });
    await(thread);
  });
  world_.run();
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->verdict, Verdict::Liveness);
  EXPECT_NE(world_.failure()->explanation.find("on 'main/thread'"), std::string::npos)
      << world_.failure()->explanation;
  EXPECT_NE(world_.failure()->explanation.find("ThreadChannel recv"), std::string::npos);
}

TEST_F(ThreadsTest, UseTheSameMemoryInEveryRun) {
  const auto once = [&] {
    world_.node("main", [] {
      for (int i = 0; i < 3; ++i) await(spawn_thread([] { delay(1ms); }));
    });
    world_.run();
    const auto hash = world_.trace_hash();
    world_.reset();
    decisions_.begin(1);
    return hash;
  };
  const auto first = once();
  EXPECT_EQ(once(), first);
  EXPECT_EQ(once(), first);
}

// --- what is explored ---

TEST(ThreadExploration, FindsWhatIsReadAndThenWrittenWithoutALock) {
  const std::string failure = found(200, [](World&) {
    int count = 0;
    std::mutex mutex;
    const auto add = [&] {
      int seen = 0;
      {
        const auto held = lock_among_threads(mutex);
        seen = count;
      }
      const auto held = lock_among_threads(mutex);
      count = seen + 1;
    };
    const auto one = spawn_thread(add);
    const auto other = spawn_thread(add);
    await(one);
    await(other);
    FERMATA_REQUIRE(count == 2, "an update is lost");
  });
  EXPECT_EQ(failure, "fermata::UsageError: an update is lost");
}

/// Z-TP-02: the flag that coalesces wake-ups is cleared after the queue was read.
struct ClearsLate {
  void produce() {
    auto held = lock_among_threads(mutex);
    ++queued;
    if (!std::exchange(pending, true)) ready->fire();
  }
  void consume_one_or_more() {
    {
      const auto held = lock_among_threads(mutex);
      consumed += std::exchange(queued, 0);
    }
    const auto held = lock_among_threads(mutex);
    pending = false;
  }
  std::mutex mutex;
  Trigger* ready = nullptr;
  int queued = 0;
  int consumed = 0;
  bool pending = false;
};

TEST(ThreadExploration, FindsAFlagThatIsClearedTooLate) {
  const std::string failure = found(500, [](World&) {
    ClearsLate mailbox;
    Trigger ready;
    mailbox.ready = &ready;
    const auto producer = spawn_thread([&] {
      mailbox.produce();
      suspend();
      mailbox.produce();
    });
    while (mailbox.consumed < 2) {
      ready.wait();
      mailbox.consume_one_or_more();
    }
    await(producer);
  });
  EXPECT_NE(failure.find("stalled"), std::string::npos) << failure;
}

/// Z-TP-06: submit looks whether the pool is open, and queues later.
TEST(ThreadExploration, FindsATaskThatIsAcceptedByWhatIsClosing) {
  const std::string failure = found(200, [](World&) {
    struct {
      std::mutex mutex;
      bool open = true;
      int queued = 0;
    } pool;
    bool accepted = false;
    const auto submitter = spawn_thread([&] {
      {
        const auto held = lock_among_threads(pool.mutex);
        if (!pool.open) return;
      }
      const auto held = lock_among_threads(pool.mutex);
      ++pool.queued;
      accepted = true;
    });
    int ran = 0;
    {
      const auto held = lock_among_threads(pool.mutex);
      pool.open = false;
      ran = std::exchange(pool.queued, 0);
    }
    await(submitter);
    FERMATA_REQUIRE(!accepted || ran == 1, "an accepted task is never run");
  });
  EXPECT_EQ(failure, "fermata::UsageError: an accepted task is never run");
}

TEST(ThreadExploration, AThreadDoesNotBeginOnceTheRunIsOver) {
  const std::string failure = found(300, [](World& world) {
    bool goes_on = false;
    (void)spawn_thread([&] {
      if (!goes_on) world.fail(Verdict::Safety, "it ran while its spawner was between two lines");
    });
    goes_on = true;
    (void)spawn_thread([] { ADD_FAILURE() << "it runs, and all is over"; });
    delay(1h);
  });
  EXPECT_EQ(failure, "it ran while its spawner was between two lines");
}

struct Mark final : backend::EndsWithRun {
  void run_ends() noexcept override { ended = true; }
  bool ended = false;
};

TEST(ThreadExploration, FindsWhatIsNotedOfAThreadThatHasEnded) {
  const std::string failure = found(2'000, [](World&) {
    const auto mark = std::make_shared<Mark>();
    (void)spawn_thread([mark] { current_runtime().reactor().threads().end_with_run(mark); });
    FERMATA_REQUIRE(!mark->ended, "it has ended already");
  });
  EXPECT_EQ(failure, "fermata::UsageError: it has ended already");
}

// --- channels ---

/// Who sends what, and what has become of it.
struct MessageLog {
  static constexpr int kSenders = 2;
  static constexpr int kEach = 4;

  void send_all(const ThreadChannel<int>& channel, int sender) {
    for (int n = 0; n < kEach; ++n) {
      const int value = sender * kEach + n;
      try {
        WaitOptions options;
        if (random(4) == 0) options.timeout = std::chrono::microseconds(random(20));
        channel.send(value, options);
        sent.insert(value);
      } catch (const Timeout&) {
      } catch (const ThreadChannelError&) {
        return;
      }
    }
  }

  void receive(const ThreadChannel<int>& channel, std::size_t receiver) {
    while (const auto value = channel.next()) {
      EXPECT_TRUE(received.insert(*value).second) << *value << " comes twice";
      const auto sender = static_cast<std::size_t>(*value / kEach);
      EXPECT_GT(*value, last[receiver][sender]) << "out of the order of its sender";
      last[receiver][sender] = *value;
    }
  }

  std::set<int> sent;
  std::set<int> received;
  std::vector<std::vector<int>> last{2, std::vector<int>(kSenders, -1)};
};

TEST(ThreadChannelExploration, LosesAndDoublesNothing) {
  FERMATA_CHECKS("TC-01", "TC-02", "TC-03", "TC-04");
  expect_sound(500, [](World&) {
    MessageLog message_log;
    const ThreadChannel<int> channel(1 + random(2));
    std::vector<Thread<void>> senders;
    std::vector<Thread<void>> receivers;
    for (int i = 0; i < MessageLog::kSenders; ++i) {
      senders.push_back(spawn_thread(
          [&message_log, channel, i] { message_log.send_all(channel, i); }, {.name = "sender"}));
    }
    for (std::size_t i = 0; i < 2; ++i) {
      receivers.push_back(spawn_thread(
          [&message_log, channel, i] { message_log.receive(channel, i); }, {.name = "receiver"}));
    }
    const auto ended = [](const Thread<void>& thread) {
      try {
        await(thread);
      } catch (const Cancellation&) {
      }
    };
    switch (random(4)) {
      case 0:
        delay(std::chrono::microseconds(random(100)));
        channel.close();
        break;
      case 1:
        delay(std::chrono::microseconds(random(100)));
        receivers[0].cancel();
        break;
      case 2:
        delay(std::chrono::microseconds(random(100)));
        senders[0].cancel();
        break;
      default:
        break;
    }
    for (const auto& sender : senders) ended(sender);
    channel.close();
    for (const auto& receiver : receivers) ended(receiver);
    while (const auto left = channel.next()) message_log.received.insert(*left);
    EXPECT_EQ(message_log.sent, message_log.received);
  });
}

TEST(ThreadChannelExploration, ServesEverybodyWhoWaits) {
  FERMATA_CHECKS("TC-02", "TC-03");
  expect_sound(500, [](World&) {
    const ThreadChannel<int> channel(1);
    int received = 0;
    const auto receiver = spawn_thread([&, channel] {
      std::vector<Coroutine<void>> waiters;
      for (int i = 0; i < 3; ++i) {
        waiters.push_back(spawn("waiter", [&, channel] {
          if (channel.next()) ++received;
        }));
      }
      if (random(2) == 0) suspend();
      waiters[random(3)].cancel();
      for (const auto& waiter : waiters) {
        try {
          await(waiter);
        } catch (const Cancellation&) {
        }
      }
    });
    for (int i = 0; i < 2; ++i) channel.send(i);
    delay(1ms);
    channel.close();
    await(receiver);
    EXPECT_EQ(received, 2) << "two are left who want them";
  });
}

// --- pools ---

std::uint64_t ended(const ThreadPoolCounters& counters) {
  return counters.completed + counters.cancelled + counters.rejected;
}

TEST(ThreadPoolExploration, EveryTaskEndsOnceWhateverHappensToThePool) {
  FERMATA_CHECKS("TP-01", "TP-02", "TP-03", "TP-04", "TP-05", "TP-06", "TP-08");
  constexpr int kTasks = 6;
  expect_sound(500, [](World&) {
    std::vector<int> ran(kTasks);
    std::vector<bool> withdrawn(kTasks);
    std::uint64_t accepted = 0;
    std::uint64_t settled = 0;
    const auto mode = random(2) == 0 ? ThreadPoolMode::Sync : ThreadPoolMode::Coroutine;
    ThreadPool pool({.workers = 2, .queue = 1, .mode = mode, .concurrency = 2});
    const auto check = [&] {
      const auto counters = pool.counters();
      EXPECT_EQ(ended(counters) + counters.pending + counters.running, counters.submitted);
      EXPECT_LE(counters.running, pool.worker_count() * (mode == ThreadPoolMode::Sync ? 1 : 2));
    };
    std::vector<Coroutine<void>> clients;
    for (std::size_t i = 0; i < kTasks; ++i) {
      clients.push_back(spawn("client", [&, i] {
        std::optional<Future<void>> future;
        try {
          future = pool.submit([&, i] {
            EXPECT_EQ(++ran[i], 1) << "it runs twice";
            EXPECT_FALSE(withdrawn[i]) << "it was cancelled before it began";
            if (random(2) == 0) delay(std::chrono::microseconds(random(50)));
          });
          ++accepted;
        } catch (const ThreadPoolError&) {
          return;
        }
        check();
        if (random(4) == 0) {
          fermata::detail::current_runtime_pointer->reactor().let_threads_in();
          future->cancel();
          if (ran[i] == 0) withdrawn[i] = true;
        }
        try {
          await(*future);
          EXPECT_EQ(ran[i], 1);
        } catch (const Cancellation&) {
        }
        EXPECT_TRUE(future->is_completed());
        ++settled;
        EXPECT_GE(pool.counters().submitted, accepted);
      }));
    }
    const std::uint64_t what = random(5);
    delay(std::chrono::microseconds(random(60)));
    if (what == 1) pool.close();
    if (what == 2) pool.cancel();
    if (what >= 3) pool.reload();
    check();
    for (const auto& client : clients) await(client);
    pool.close();
    pool.join();
    const auto counters = pool.counters();
    EXPECT_EQ(settled, accepted);
    EXPECT_EQ(counters.submitted, accepted);
    EXPECT_EQ(ended(counters), accepted);
    EXPECT_EQ(pool.worker_count(), 0u);
    EXPECT_EQ(counters.rejected, 0u);
  });
}

TEST(ThreadPoolExploration, AThreadThatFailsAtOnceIsKnown) {
  FERMATA_CHECKS("TP-03", "THR-07");
  expect_sound(500, [](World&) {
    ThreadPool pool(
        {.workers = 2, .queue = 1, .on_thread_start = [] { throw Error("no licence"); }});
    for (int i = 0; i < 3; ++i) {
      try {
        await(pool.submit([] { ADD_FAILURE() << "it runs"; }));
        ADD_FAILURE() << "expected an error";
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "no licence");
      }
    }
    pool.join();
  });
}

// --- threads ---

TEST(ThreadExploration, ACompletionBeforeAnybodyAskedReachesEverybody) {
  FERMATA_CHECKS("THR-05", "THR-06");
  expect_sound(500, [](World&) {
    auto thread = spawn_thread([] { return std::make_shared<int>(7); });
    const auto copy = thread;
    if (random(2) == 0) delay(std::chrono::microseconds(random(100)));
    auto other = spawn("other", [copy] { return await(copy); });
    EXPECT_EQ(await(thread).get(), await(other).get());
    (void)spawn_thread([] { return std::make_unique<int>(1); });  // Nobody asks.
    if (random(2) == 0) (void)spawn_thread([] { throw Error("nobody asks"); });
  });
}

TEST(ThreadExploration, ACancelComesAtAnyTime) {
  FERMATA_CHECKS("THR-05");
  expect_sound(500, [](World&) {
    int clean_ups = 0;
    int begun = 0;
    const auto thread = spawn_thread([&] {
      ++begun;
      struct CleanUp {
        int& count;
        ~CleanUp() { ++count; }
      } const clean_up{clean_ups};
      delay(50us);
      return 1;
    });
    delay(std::chrono::microseconds(random(100)));
    thread.cancel();
    try {
      EXPECT_EQ(await(thread), 1);
    } catch (const Cancellation&) {
      EXPECT_TRUE(thread.is_cancelled());
    }
    EXPECT_EQ(clean_ups, begun);
  });
}

}  // namespace
}  // namespace fermata::sim
