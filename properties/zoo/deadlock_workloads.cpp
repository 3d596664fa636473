// SPDX-License-Identifier: Apache-2.0

// Deadlock detection (Z-DL).

#include <string_view>

#include "fermata/runtime.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

using std::chrono::milliseconds;

// In a program that cannot deadlock, any deadlock is a false alarm.
constexpr std::string_view kFalseAlarm = "Deadlock detected";

// Two owners stop one timer, while another coroutine waits for something real.
FERMATA_WORKLOAD(stopped_twice, "Z-DL-01", 2, "STOP", "DL+", "CORE-EV-01", "CORE-EV-04") {
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

// Between two naps nothing is active.
FERMATA_WORKLOAD(nap_twice, "Z-DL-03", 1, "DL+", kFalseAlarm, "CORE-SC-08", "CORE-SC-10") {
  await(spawn("sleeper", [] {
    delay(milliseconds(5));
    delay(milliseconds(5));
  }));
}

// The only one who could answer is a hidden timer, which is due already.
FERMATA_WORKLOAD(answered_by_a_hidden_timer, "Z-DL-04", 1, "DL+", kFalseAlarm, "CORE-SC-10") {
  const auto answer = make_event(true);
  const auto timer = make_timer(current_runtime(), milliseconds(0));
  timer->set_hidden(true);
  const auto ticks =
      subscribe(*timer, [&](Event&, const Outcome& outcome) { answer->notify_and_close(outcome); });
  const auto asker = spawn("asker", [&] { wait(*answer); });
  const auto starter = spawn("starter", [&] {
    suspend();
    timer->start();
  });
  await(asker);
  await(starter);
}

// One writes to a file, and nothing else happens.
FERMATA_WORKLOAD(write_a_file, "Z-DL-02", 1, "DL+", kFalseAlarm, "CORE-SC-10") {
  await(spawn("writer", [] {
    try {
      auto file = File::open("/file", OpenMode::writing());
      file.write(std::string_view("the only thing that happens"));
    } catch (const InputOutputError&) {
    }
  }));
}

}  // namespace

}  // namespace fermata::properties::zoo
