// SPDX-License-Identifier: Apache-2.0

// Programs that are stuck, each in its own way, and what the explainer must say of each: the class,
// and the ring or who last had the waker in his hands. The answers are in deadlocks/NAME.json.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/dns.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/io/process.hpp"
#include "fermata/io/signal.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/thread.hpp"
#include "fermata/io/thread_channel.hpp"
#include "fermata/io/thread_pool.hpp"
#include "fermata/io/trigger.hpp"
#include "fermata/io/udp.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/waits/explain.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/barrier.hpp"
#include "fermata/sync/channel.hpp"
#include "fermata/sync/condition.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/mutex.hpp"
#include "fermata/sync/pool.hpp"
#include "fermata/sync/semaphore.hpp"
#include "fermata/sync/task_group.hpp"
#include "fermata/sync/when_all.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

struct Case {
  const char* name;
  std::function<void(World& world)> program;
  const char* strategy = "fifo";
  std::uint64_t seeds = 1;  // So many runs, each explored for itself; each must be explained.
  std::uint64_t step_limit = 1'000'000;
};

std::ostream& operator<<(std::ostream& out, const Case& test) { return out << test.name; }

/// An event that code completes.
class Bell final : public Event {
 public:
  explicit Bell(Runtime& runtime) : Event(runtime, backend::EventKind::Plain) {}
  ~Bell() override { shut(); }
  void dispose() noexcept override {}
};

// --- rings ---

void two_mutexes(World&) {
  Mutex left("left");
  Mutex right("right");
  const auto lock_both = [](Mutex& first, Mutex& second) {
    const Mutex::Guard one(first);
    suspend();
    const Mutex::Guard two(second);
  };
  const auto a = spawn("a", [&] { lock_both(left, right); });
  const auto b = spawn("b", [&] { lock_both(right, left); });
  await(a);
  await(b);
}

void three_mutexes(World&) {
  Mutex forks[3] = {Mutex("fork 1"), Mutex("fork 2"), Mutex("fork 3")};
  std::vector<Coroutine<>> philosophers;
  for (int i = 0; i < 3; ++i) {
    philosophers.push_back(spawn("philosopher " + std::to_string(i + 1), [&, i] {
      const Mutex::Guard left(forks[i]);
      suspend();
      const Mutex::Guard right(forks[(i + 1) % 3]);
    }));
  }
  for (const auto& each : philosophers) await(each);
}

void lock_over_join(World&) {
  Mutex ledger("ledger");
  const Mutex::Guard guard(ledger);
  const auto clerk = spawn("clerk", [&] { const Mutex::Guard also(ledger); });
  await(clerk);
}

void mutex_and_channel(World&) {
  Mutex books("books");
  const Channel<int> orders("orders", 1);
  const auto producer = spawn("producer", [&] {
    const Mutex::Guard guard(books);
    for (int i = 0; i < 3; ++i) orders.send(i);
  });
  const auto consumer = spawn("consumer", [&] {
    for (int i = 0; i < 3; ++i) {
      { const Mutex::Guard guard(books); }
      static_cast<void>(orders.recv());
    }
  });
  await(producer);
  await(consumer);
}

void two_pipelines(World&) {
  const Channel<int> there("there", 1);
  const Channel<int> back("back", 1);
  const auto work = [](const Channel<int>& out, const Channel<int>& in) {
    for (int i = 0; i < 3; ++i) out.send(i);
    for (int i = 0; i < 3; ++i) static_cast<void>(in.recv());
  };
  const auto left = spawn("left", [&] { work(there, back); });
  const auto right = spawn("right", [&] { work(back, there); });
  await(left);
  await(right);
}

void join_ring(World&) {
  Coroutine<> a;
  Coroutine<> b;
  a = spawn("a", [&] { await(b); });
  b = spawn("b", [&] { await(a); });
  await(a);
}

void lease_while_holding_one(World&) {
  Pool<int> connections("connections", PoolOptions<int>{.factory = [] { return 1; }, .max = 2});
  const auto copy = [&] {
    const auto from = connections.acquire();
    suspend();
    const auto to = connections.acquire();
  };
  const auto a = spawn("a", copy);
  const auto b = spawn("b", copy);
  await(a);
  await(b);
}

void lock_over_group(World&) {
  Mutex ledger("ledger");
  TaskGroup<> clerks;
  const Mutex::Guard guard(ledger);
  clerks.spawn([&] { const Mutex::Guard also(ledger); });
  clerks.close();
  await(clerks.all());
}

void lock_over_when_all(World&) {
  Mutex ledger("ledger");
  const Mutex::Guard guard(ledger);
  const std::vector<Coroutine<>> clerks = {spawn("clerk", [&] { const Mutex::Guard g(ledger); }),
                                           spawn("idler", [] {})};
  when_all_settled(clerks);
}

// --- wake-ups that are lost ---

void permit_leaked(World&) {
  Semaphore permits("permits", 1);
  const auto thrower = spawn("thrower", [&] {
    try {
      permits.acquire();
      throw std::runtime_error("no such file");
    } catch (const std::runtime_error&) {
    }
  });
  await(thrower);
  permits.acquire();
}

void never_unlocked(World&) {
  Mutex mutex("mutex");
  const auto late = spawn("late", [&] {
    delay(1us);
    mutex.lock();
  });
  spawn("thief", [&] { mutex.lock(); });
  await(late);
}

void notified_before(World&) {
  Mutex mutex("mutex");
  Condition ready("ready");
  const auto notifier = spawn("notifier", [&] { ready.notify_one(); });
  await(notifier);
  mutex.lock();
  ready.wait(mutex);
  mutex.unlock();
}

void one_notify_for_two(World&) {
  Mutex mutex("mutex");
  Condition ready("ready");
  const auto wait_once = [&] {
    const Mutex::Guard guard(mutex);
    ready.wait(mutex);
  };
  const auto first = spawn("first", wait_once);
  const auto second = spawn("second", wait_once);
  const auto notifier = spawn("notifier", [&] { ready.notify_one(); });
  await(notifier);
  await(first);
  await(second);
}

void woke_the_wrong_one(World&) {
  Mutex mutex("mutex");
  Condition changed("changed");
  int items = 0;
  int room = 0;
  const auto reader = spawn("reader", [&] {
    const Mutex::Guard guard(mutex);
    changed.wait(mutex, [&] { return items > 0; });
  });
  const auto writer = spawn("writer", [&] {
    const Mutex::Guard guard(mutex);
    changed.wait(mutex, [&] { return room > 0; });
  });
  const auto boss = spawn("boss", [&] {
    const Mutex::Guard guard(mutex);
    room = 1;
    changed.notify_one();
  });
  await(boss);
  await(writer);
  items = 1;
  changed.notify_one();
  await(reader);
}

void trigger_fired_for_one_of_two(World&) {
  Trigger news;
  const auto wait_once = [&] { fermata::wait(news.handle()); };
  const auto first = spawn("reader", wait_once);
  suspend();
  const auto writer = spawn("writer", [&] { news.fire(); });
  await(first);
  const auto second = spawn("reader", wait_once);
  await(writer);
  await(second);
}

void fired_before(World&) {
  Bell bell(current_runtime());
  const auto ringer = spawn("ringer", [&] { bell.notify({}); });
  await(ringer);
  wait(bell);
}

// --- orphans ---

void promise_dropped(World&) {
  Promise<int> promise(PromiseOptions{.name = "answer", .breaks = false});
  const auto future = promise.future();
  spawn("forgetful", [kept = std::move(promise)]() mutable {
    suspend();
    const Promise<int> gone = std::move(kept);
  });
  static_cast<void>(await(future));
}

void promise_never_completed(World&) {
  const Promise<int> promise("answer");
  static_cast<void>(await(promise.future()));
}

void senders_gone(World&) {
  const Channel<int> results("results", 4);
  const auto sender = spawn("sender", [&] {
    for (int i = 0; i < 3; ++i) results.send(i);
  });
  const auto receiver = spawn("receiver", [&] {
    for (int sum = 0; sum < 100;) sum += results.recv();
  });
  await(sender);
  await(receiver);
}

void barrier_short_of_one(World&) {
  Barrier start("start", 3);
  const auto a = spawn("a", [&] { start.arrive_and_wait(); });
  const auto b = spawn("b", [&] { start.arrive_and_wait(); });
  await(a);
  await(b);
}

// --- the others ---

void timer_closed(World&) {
  const auto alarm = make_timer(current_runtime(), 1s);
  const auto sleeper = spawn("sleeper", [&] { wait(*alarm); });
  suspend();
  const auto closer = spawn("closer", [&] { alarm->close(); });
  await(closer);
  await(sleeper);
}

void ring_beside_a_ticker(World&) {
  Mutex left("left");
  Mutex right("right");
  const auto lock_both = [](Mutex& first, Mutex& second) {
    const Mutex::Guard one(first);
    suspend();
    const Mutex::Guard two(second);
  };
  spawn("a", [&] { lock_both(left, right); });
  spawn("b", [&] { lock_both(right, left); });
  for (int tick = 0; tick < 1'000; ++tick) delay(1s);
}

void always_overtaken(World&) {
  Mutex mutex("mutex");
  const auto hog = spawn("hog", [&] {
    for (;;) {
      const Mutex::Guard guard(mutex);
      suspend();
    }
  });
  const auto poller = spawn("poller", [&] {
    while (!mutex.try_lock()) suspend();
    mutex.unlock();
  });
  await(poller);
  await(hog);
}

void two_machines(World& world) {
  world.node("server", [] {
    auto listener = TcpListener::bind({"0.0.0.0", 80});
    auto client = listener.accept();
    std::byte question[1];
    static_cast<void>(client->read(question));
  });
  auto server = TcpStream::connect(world.node("server").address(80));
  std::byte greeting[1];
  static_cast<void>(server.read(greeting));
}

// --- threads ---

/// A clerk that has answered one order and waits for the next.
struct Clerk {
  ThreadChannel<int> orders{1};
  ThreadChannel<int> answers{1};
  Thread<> thread = spawn_thread(
      [orders = orders, answers = answers] {
        for (;;) answers.send(orders.recv());
      },
      {.name = "clerk"});

  Clerk() {
    orders.send(1);
    static_cast<void>(answers.recv());
  }
};

void two_thread_channels(World&) {
  const Clerk clerk;
  static_cast<void>(clerk.answers.recv());
}

void thread_that_waits_for_its_spawner(World&) {
  const Clerk clerk;
  await(clerk.thread);
}

void thread_channel_nobody_sends_to(World&) {
  const ThreadChannel<int> orders(1);
  const auto clerk = spawn_thread([orders] { orders.send(1); }, {.name = "clerk"});
  await(clerk);
  static_cast<void>(orders.recv());
  static_cast<void>(orders.recv());
}

void task_that_waits_for_its_submitter(World&) {
  ThreadPool pool({.name = "pool", .workers = 1});
  const ThreadChannel<int> orders(2);
  orders.send(1);
  const auto total = pool.submit([orders] { return orders.recv() + orders.recv(); });
  static_cast<void>(await(total));
}

void task_behind_one_that_waits(World&) {
  ThreadPool pool({.name = "pool", .workers = 1});
  const ThreadChannel<int> orders(2);
  orders.send(1);
  const auto total = pool.submit([orders] { return orders.recv() + orders.recv(); });
  const auto other = pool.submit([] { return 1; });
  static_cast<void>(await(other));
}

// --- the world outside ---

void process_with_open_input(World& world) {
  world.program("sort", ScriptedProgram().reads_input().says("done"));
  auto sort = Process::spawn({.program = "sort", .input = Stdio::Pipe});
  const std::byte line[] = {std::byte{'a'}, std::byte{'b'}};
  sort.input().write(line);
  static_cast<void>(sort.wait());
}

void signal_that_nobody_sends(World&) { wait_signal(SIGUSR1); }

// --- what is compared ---

/// Without the number or the place of what has no name, and the address of a connection.
std::string plain(const Json& title) {
  const std::string text = title.get<std::string>();
  const bool is_connection = text.starts_with("connection ");
  return text.substr(0, std::min(text.find(is_connection ? " '" : " #"), text.find(" made at ")));
}

/// The first finding, without places, numbers and times.
Json essence(const Failure& failure) {
  const Json graph = Json::parse(failure.wait_graph);
  Json essence = {{"verdict", to_string(failure.verdict)}, {"class", graph["class"]}};
  if (graph["findings"].empty()) return essence;
  const Json& finding = graph["findings"].front();
  if (finding.contains("cycle")) {
    for (const Json& step : finding["cycle"]) {
      essence["cycle"].push_back({step["coroutine"], plain(step["waits_for"].back())});
    }
    return essence;
  }
  if (finding.contains("object")) essence["object"] = plain(finding["object"]);
  essence["waiters"] = finding["waiters"];
  if (finding.contains("culprit")) {
    const Json& culprit = finding["culprit"];
    for (const char* member : {"who", "did", "woke"}) {
      if (culprit.contains(member)) essence["culprit"][member] = culprit[member];
    }
  }
  return essence;
}

class DeadlocksTest : public ::testing::TestWithParam<Case> {};

TEST_P(DeadlocksTest, IsExplained) {
  const Case& test = GetParam();
  const std::string path =
      std::string(FERMATA_SOURCE_DIR) + "/tests/meta/deadlocks/" + test.name + ".json";
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  const Json expected = Json::parse(file);
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 1; seed <= test.seeds; ++seed) {
    ExploreOptions options;
    options.runs = 1;
    options.seed = seed;
    options.strategy = test.strategy;
    options.faults = "none";
    options.world.time_limit = 1h;
    options.world.step_limit = test.step_limit;
    const ExploreResult result = explore(options, test.program);
    if (!result.found) continue;
    ++failed;
    const Failure& failure = result.found->failure;
    EXPECT_EQ(essence(failure), expected) << failure.message << "\n"
                                          << failure.explanation << failure.wait_graph;
    EXPECT_TRUE(result.found->repeatable);
  }
  EXPECT_GT(failed, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Deadlocks, DeadlocksTest,
    ::testing::Values(
        Case{"two_mutexes", &two_mutexes, "random", 20},
        Case{"three_mutexes", &three_mutexes, "random", 20},
        Case{"lock_over_join", &lock_over_join, "random", 20},
        Case{"mutex_and_channel", &mutex_and_channel, "random", 20},
        Case{"two_pipelines", &two_pipelines, "random", 20},
        Case{"join_ring", &join_ring, "random", 20},
        Case{"lease_while_holding_one", &lease_while_holding_one, "random", 20},
        Case{"lock_over_group", &lock_over_group, "random", 20},
        Case{"lock_over_when_all", &lock_over_when_all, "random", 20},
        Case{"permit_leaked", &permit_leaked, "random", 20},
        Case{"never_unlocked", &never_unlocked, "random", 20},
        Case{"notified_before", &notified_before, "random", 20},
        Case{"one_notify_for_two", &one_notify_for_two},
        Case{"woke_the_wrong_one", &woke_the_wrong_one},
        Case{"trigger_fired_for_one_of_two", &trigger_fired_for_one_of_two},
        Case{"fired_before", &fired_before, "random", 20},
        Case{"promise_dropped", &promise_dropped, "random", 20},
        Case{"promise_never_completed", &promise_never_completed},
        Case{"senders_gone", &senders_gone, "random", 20},
        Case{"barrier_short_of_one", &barrier_short_of_one}, Case{"timer_closed", &timer_closed},
        Case{"ring_beside_a_ticker", &ring_beside_a_ticker, "random", 20},
        Case{"always_overtaken", &always_overtaken, "fifo", 1, 10'000},
        Case{"two_machines", &two_machines, "random", 20},
        Case{"two_thread_channels", &two_thread_channels, "random", 20},
        Case{"thread_that_waits_for_its_spawner", &thread_that_waits_for_its_spawner, "random", 20},
        Case{"thread_channel_nobody_sends_to", &thread_channel_nobody_sends_to, "random", 20},
        Case{"task_that_waits_for_its_submitter", &task_that_waits_for_its_submitter, "random", 20},
        Case{"task_behind_one_that_waits", &task_behind_one_that_waits, "random", 20},
        Case{"process_with_open_input", &process_with_open_input, "random", 20},
        Case{"signal_that_nobody_sends", &signal_that_nobody_sends}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(DeadlockTextTest, ShowsTheRingInOneLine) {
  ExploreOptions options;
  options.runs = 1;
  options.strategy = "fifo";
  options.faults = "none";
  const ExploreResult result = explore(options, &two_mutexes);
  ASSERT_TRUE(result.found);
  const std::string& text = result.found->failure.explanation;
  EXPECT_TRUE(text.starts_with("cycle: 'a' --mutex 'right' (held by 'b', taken at ")) << text;
  EXPECT_NE(text.find("--> 'b' --mutex 'left' (held by 'a', taken at "), std::string::npos) << text;
}

TEST(DeadlockTextTest, NamesNobodyAsTheHolderOfALease) {
  ExploreOptions options;
  options.runs = 1;
  options.strategy = "fifo";
  options.faults = "none";
  options.world.step_limit = 10'000;
  const ExploreResult result = explore(options, [](World&) {
    Pool<int> seats("seats", {.factory = [] { return 7; }, .max = 1});
    const auto hog = spawn("hog", [&] {
      const Lease<int> seat = seats.acquire();
      for (;;) suspend();
    });
    const auto poller = spawn("poller", [&] {
      while (!seats.try_acquire()) suspend();
    });
    await(poller);
    await(hog);
  });
  ASSERT_TRUE(result.found);
  const std::string& text = result.found->failure.explanation;
  EXPECT_NE(text.find("'poller' was refused pool 'seats'"), std::string::npos) << text;
  EXPECT_EQ(text.find("while it was with"), std::string::npos) << text;
}

/// What `wait` is up to: as the picture says that is made while it waits.
std::string outside_of(const std::function<void(World& world)>& wait) {
  ExploreOptions options;
  options.runs = 1;
  options.strategy = "fifo";
  options.faults = "none";
  options.check_determinism = 0;
  std::string outside;
  const ExploreResult result = explore(options, [&](World& world) {
    const auto waiter = spawn("waiter", [&] { wait(world); });
    while (!waiter->is_completed() && outside.empty()) {
      suspend();
      const Json graph = Json::parse(wait_graph_json(current_runtime()));
      for (const Json& each : graph["coroutines"]) {
        if (each["name"] != "waiter" || each["waits"].empty()) continue;
        const Json& object = graph["objects"][each["waits"][0]["object"].get<std::size_t>()];
        outside = object["title"].get<std::string>() + ": " + object.value("outside", "");
      }
    }
    waiter->cancel();
    try {
      await(waiter);
    } catch (const Cancellation&) {
    }
  });
  EXPECT_FALSE(result.found) << result.found->failure.message;
  return outside;
}

TEST(WaitGraphTest, SaysWhatAWaitForTheWorldOutsideIsUpTo) {
  EXPECT_EQ(outside_of([](World&) { static_cast<void>(File::open("log", OpenMode::updating())); }),
            "open 'log': the disk");
  EXPECT_EQ(outside_of([](World&) { static_cast<void>(resolve("main")); }),
            "resolve 'main': the resolver");
  EXPECT_EQ(outside_of([](World&) { static_cast<void>(offload([] { return 1; })); }),
            "task: a thread for blocking work");
  EXPECT_EQ(outside_of([](World&) { wait_signal(SIGUSR1); }), "signal 'SIGUSR1': whoever sends it");
  EXPECT_EQ(outside_of([](World& world) {
              using namespace std::chrono_literals;
              world.program("sleep", ScriptedProgram().takes(1s));
              static_cast<void>(Process::spawn({.program = "sleep"}).wait());
            }),
            "process 'sleep': the process");
}

TEST(DeadlockTextTest, AnExploringRunHasTheSameSignature) {
  ExploreOptions options;
  options.runs = 1;
  options.strategy = "fifo";
  options.faults = "none";
  Program program;
  program.body = &ring_beside_a_ticker;
  Runner runner(program, "fifo", options.world);
  const RunResult exploring = runner.run(1);
  runner.set_recording(true);
  const RunResult watched = runner.run(1);
  ASSERT_TRUE(exploring.failure);
  ASSERT_TRUE(watched.failure);
  EXPECT_EQ(exploring.failure->signature(), watched.failure->signature());
  EXPECT_TRUE(watched.same_run(exploring));
  EXPECT_LT(exploring.failure->at, Instant{} + 10min);
}

}  // namespace
}  // namespace fermata::sim
