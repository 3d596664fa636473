// SPDX-License-Identifier: Apache-2.0

// Threads, their pools and triggers (Z-TP).

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fermata/io/remote_promise.hpp"
#include "fermata/io/thread.hpp"
#include "fermata/io/thread_channel.hpp"
#include "fermata/io/thread_lock.hpp"
#include "fermata/io/thread_pool.hpp"
#include "fermata/io/trigger.hpp"
#include "fermata/runtime.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

/// Longer than everything takes.
constexpr Duration kLong = seconds(10);

// Somebody gives up while a worker is at the work.
FERMATA_WORKLOAD(impatient_waiter, "Z-TP-01", 2, "UAF", "THR-01") {
  await(spawn("waiter", [&] {
    try {
      offload(
          [&world, input = std::make_shared<int>(1)] {
            if (input == nullptr) {
              complain(world, "UAF (THR-01): a worker has nothing to work with any more");
            }
          },
          {.timeout = microseconds(15)});
    } catch (const Timeout&) {
    }
  }));
  delay(kLong);
}

// A thread puts two things into a box; whoever empties it takes some time for each.
FERMATA_WORKLOAD(two_posts, "Z-TP-02", 3, "WAKE", "THR-03") {
  std::mutex mutex;
  int things = 0;
  Trigger trigger;
  const auto producer = spawn_thread([&] {
    delay(microseconds(100));
    for (int i = 0; i < 2; ++i) {
      const auto held = lock_among_threads(mutex);
      ++things;
      trigger.fire();
    }
  });
  await(spawn("consumer", [&] {
    for (int taken = 0; taken < 2;) {
      try {
        trigger.wait({.timeout = kLong});
      } catch (const Timeout&) {
        return complain(world, "WAKE (THR-03): a thing lies in the box, and nobody was told");
      }
      const int found = [&] {
        const auto held = lock_among_threads(mutex);
        return std::exchange(things, 0);
      }();
      taken += found;
      delay(microseconds(30) * found);
    }
  }));
  await(producer);
}

// Somebody fires once, before anybody waits; then two wait, one after the other.
FERMATA_WORKLOAD(one_fire_for_two, "Z-TP-07", 1, "ONCE", "THR-03") {
  Trigger trigger;
  const auto producer = spawn("producer", [&] {
    trigger.fire();
    delay(kLong);
  });
  await(spawn("consumer", [&] {
    delay(microseconds(100));
    trigger.wait({.timeout = kLong});
    try {
      trigger.wait({.timeout = microseconds(100)});
    } catch (const Timeout&) {
      return;
    }
    complain(world, "ONCE (THR-03): one fire was told twice");
  }));
  await(producer);
}

// A thread that ends at once.
FERMATA_WORKLOAD(instant_failure, "Z-TP-04", 2, "UAF", "SHUT", "THR-07") {
  for (int i = 0; i < 3; ++i) {
    const auto thread = spawn_thread(
        [] {}, {.name = "worker", .on_thread_start = [] { throw Error("it fails at once"); }});
    try {
      await(thread, {.timeout = kLong});
    } catch (const RemoteError&) {
    } catch (const Timeout&) {
      return complain(world, "SHUT (THR-07): a thread has ended, and is waited for forever");
    }
  }
}

// Somebody comes for the result of a thread that has ended long ago.
FERMATA_WORKLOAD(late_await, "Z-TP-05", 1, "WAKE", "ERR", "THR-05") {
  const auto thread = spawn_thread([] { return 1; });
  delay(kLong);
  try {
    await(thread);
  } catch (const UsageError& error) {
    complain(world, "ERR (THR-05): the result of a thread is lost: " + std::string(error.what()));
  }
}

// A pool is closed while many want to submit.
FERMATA_WORKLOAD(submit_to_what_is_closing, "Z-TP-06", 2, "WAKE", "VAL", "ONCE", "TP-06") {
  ThreadPool pool({.workers = 1, .queue = 1});
  const auto closer = spawn("closer", [&] { pool.close(); });
  std::vector<Coroutine<>> submitters;
  for (int i = 0; i < 4; ++i) {
    submitters.push_back(spawn("submitter", [&] {
      Future<> future;
      try {
        future = pool.submit([] {});
      } catch (const ThreadPoolError&) {
        return;
      }
      try {
        await(future, {.timeout = kLong});
      } catch (const ThreadPoolError&) {
        complain(world, "VAL (TP-06): a task was accepted, and then refused");
      } catch (const Timeout&) {
        complain(world, "WAKE (TP-06): a task was accepted, and nobody runs it");
      }
    }));
  }
  await(closer);
  for (const auto& submitter : submitters) await(submitter);
}

// A thread sends one value, and somebody waits for it.
FERMATA_WORKLOAD(one_value, "Z-TP-08", 2, "WAKE", "TC-02") {
  ThreadChannel<int> channel(1);
  const auto sender = spawn_thread([&] {
    delay(microseconds(100));
    channel.send(1);
  });
  await(spawn("receiver", [&] {
    delay(microseconds(100));
    try {
      static_cast<void>(channel.recv({.timeout = kLong}));
    } catch (const Timeout&) {
      complain(world, "WAKE (TC-02): a value lies in the channel, and who waits was not told");
    }
  }));
  await(sender);
}

// A future is cancelled before the thread that is to complete it looks whether it still is wanted.
FERMATA_WORKLOAD(cancelled_before_the_work, "Z-TP-09", 1, "CANC", "FUT-16") {
  Promise<int> promise;
  const Future<int> future = promise.future();
  bool cancelled = false;
  const auto thread = spawn_thread([&, remote = RemotePromise(std::move(promise))]() mutable {
    const bool unwanted = cancelled;
    if (unwanted && !remote.is_cancellation_requested()) {
      complain(world, "CANC (FUT-16): work goes on that is not wanted any more");
    }
    static_cast<void>(remote.try_complete(1));
  });
  if (!future.is_completed()) {
    future.cancel();
    cancelled = future.is_cancelled();
  }
  await(thread);
}

}  // namespace

}  // namespace fermata::properties::zoo
