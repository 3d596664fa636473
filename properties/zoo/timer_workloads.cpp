// SPDX-License-Identifier: Apache-2.0

// Timers and virtual time (Z-TM).

#include "fermata/runtime/runtime.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

using std::chrono::milliseconds;

// Computing, and then sleeping.
void compute_and_sleep(sim::World& world) {
  await(spawn("sleeper", [&] {
    sim::consume(milliseconds(50));
    const Instant due = now() + milliseconds(20);
    delay(milliseconds(20));
    if (now() < due) {
      complain(world, "TIME (TMR-01): a sleep of 20 ms ended " +
                          std::to_string((due - now()).count()) + " ns early");
    }
  }));
}

}  // namespace

std::vector<Workload> timer_workloads() {
  return {
      {"Z-TM-01",
       "deadline computed from a stale loop clock",
       1,
       {"TIME", "TMR-01"},
       &compute_and_sleep},
  };
}

}  // namespace fermata::properties::zoo
