// SPDX-License-Identifier: Apache-2.0

// Callbacks and references (Z-CB).

#include <chrono>
#include <memory>

#include "fermata/runtime.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

// Three wait for one promise; somebody keeps it.
FERMATA_WORKLOAD(broadcast, "Z-CB-01", 1, "WAKE", "DL-", "CORE-CB-01") {
  const auto promise = make_event(true);
  std::vector<Coroutine<>> waiters;
  for (const char* name : {"first", "second", "third"}) {
    waiters.push_back(spawn(std::string(name), [&] { wait(*promise); }));
  }
  await(spawn("completer", [&] {
    suspend();
    promise->complete();
    expect_awake(world, waiters);
  }));
  for (const auto& waiter : waiters) await(waiter);
}

// A listener closes the stream at the last byte; another coroutine, there before it, waits for the
// end of the stream.
FERMATA_WORKLOAD(close_inside_callback, "Z-CB-03", 2, "WAKE", "ERR", "CORE-CB-10") {
  const auto stream = make_event(false);
  std::vector<Coroutine<>> waiters;
  const auto writer = spawn("writer", [&] {
    const Subscription listener = subscribe(*stream, [&](Event&, const Outcome&) {
      if (!stream->is_closed()) stream->complete();
    });
    stream->notify({});
    expect_awake(world, waiters);
  });
  waiters.push_back(spawn("reader", [&] {
    suspend();
    wait_until_closed(*stream);
  }));
  await(writer);
  await(waiters.front());
}

// The first subscriber throws; two more wait for the same promise.
FERMATA_WORKLOAD(throwing_subscriber, "Z-CB-04", 1, "WAKE", "ERR", "CORE-CB-09") {
  const auto promise = make_event(true);
  const Subscription thrower =
      subscribe(*promise, [](Event&, const Outcome&) { throw PlannedError(1); });
  std::vector<Coroutine<>> waiters;
  for (const char* name : {"first", "second"}) {
    waiters.push_back(spawn(std::string(name), [&] { wait(*promise); }));
  }
  await(spawn("completer", [&] {
    suspend();
    try {
      promise->complete();
      complain(world, "ERR (CORE-CB-09): what a subscriber threw did not surface");
    } catch (const PlannedError&) {
    }
    expect_awake(world, waiters);
  }));
  for (const auto& waiter : waiters) await(waiter);
}

/// Counts how often it is told that nobody holds it any more.
class Counted final : public backend::Callback {
 public:
  void run(Event&, const Outcome&) override {}
  [[nodiscard]] int ends() const noexcept { return ends_; }

 private:
  void destroy() noexcept override { ++ends_; }
  int ends_ = 0;
};

// Two futures, each with a listener that its maker holds on to; both are completed.
FERMATA_WORKLOAD(listener_kept, "Z-CB-05", 1, "REF", "UAF", "CORE-CB-06") {
  Promise<int> promises[2];
  Counted listeners[2];
  for (int i = 0; i < 2; ++i) {
    listeners[i].add_ref();
    promises[i].future().event().add_callback(listeners[i]);
  }
  const auto waiter =
      spawn("waiter", [&] { return await(promises[0].future()) + await(promises[1].future()); });
  for (int i = 0; i < 2; ++i) {
    promises[i].complete(i);
    if (listeners[i].ends() != 0) {
      complain(world, "REF (CORE-CB-06): a listener that is still held was destroyed");
    }
    listeners[i].release();
    if (listeners[i].ends() != 1) {
      complain(world, "REF (CORE-CB-06): a listener was destroyed " +
                          std::to_string(listeners[i].ends()) + " times");
    }
  }
  await(waiter);
}

// Work on another thread that fails.
class FailingRequest final : public backend::Task {
 public:
  FailingRequest() : Task(current_runtime().reactor().offload()) {}

 private:
  void work() override { throw PlannedError(1); }
  void* result_address() noexcept override { return nullptr; }
};

// A request fails to which two listen. Its owner, there first, lets it go as soon as it hears of
// that; the other one has to hear of the error all the same.
FERMATA_WORKLOAD(error_outlives_its_owner, "Z-CB-06", 2, "UAF", "ERR", "CORE-CB-01") {
  auto request = Ref<FailingRequest>::adopt(*new FailingRequest);
  const Subscription owner = subscribe(*request, [&](Event&, const Outcome&) { request.reset(); });
  request->start();
  await(spawn("writer", [&] {
    delay(std::chrono::milliseconds(1));
    if (!request) return;
    std::exception_ptr heard;
    const Subscription listener =
        subscribe(*request, [&](Event&, const Outcome& outcome) { heard = outcome.error; });
    while (request) delay(std::chrono::milliseconds(1));
    if (!heard) {
      complain(world,
               "ERR (CORE-CB-01): the writer heard nothing of the error of a request that was let "
               "go during the broadcast");
    }
  }));
}

// A transfer listens to a stream that lives longer. It must not be told of what comes after it.
FERMATA_WORKLOAD(listener_leaves_first, "Z-CB-07", 2, "UAF", "REF", "EVT-04") {
  Promise<> stream;
  const auto closer = spawn("closer", [&] { stream.complete(); });
  const auto transfer = spawn("transfer", [&] {
    auto alive = std::make_shared<bool>(true);
    {
      const Subscription listener =
          subscribe(stream.future().event(), [&world, alive](Event&, const Outcome&) {
            if (*alive) return;
            complain(world, "UAF (EVT-04): the stream tells a transfer that has ended");
          });
    }
    *alive = false;
  });
  await(transfer);
  await(closer);
}

}  // namespace

}  // namespace fermata::properties::zoo
