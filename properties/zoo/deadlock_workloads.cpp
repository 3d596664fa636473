// SPDX-License-Identifier: Apache-2.0

// Deadlock detection (Z-DL).

#include "fermata/runtime/runtime.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

using std::chrono::milliseconds;

// Two owners stop one timer, while another coroutine waits for something real.
void stopped_twice(sim::World& world) {
  const auto timer = make_timer(current_runtime(), milliseconds(50));
  bool started = false;
  const auto reader = spawn("reader", [] { delay(milliseconds(100)); });
  const auto owner = spawn("owner", [&] {
    timer->start();
    started = true;
    suspend();
    timer->stop();
    started = false;
  });
  const auto other = spawn("other", [&] {
    suspend();
    suspend();
    if (!started) return;
    suspend();
    const std::size_t active = current_runtime().active_event_count();
    const std::size_t counted = timer->loop_ref_count();
    timer->stop();
    if (current_runtime().active_event_count() != active - counted) {
      complain(world, "STOP (CORE-EV-04): a stop without a start has changed what is active");
    }
  });
  await(owner);
  await(other);
  await(reader);
}

}  // namespace

std::vector<Workload> deadlock_workloads() {
  return {
      {"Z-DL-01",
       "active-event counter underflow: live I/O declared deadlocked",
       2,
       {"STOP", "DL+", "CORE-EV-01", "CORE-EV-04"},
       &stopped_twice},
  };
}

}  // namespace fermata::properties::zoo
