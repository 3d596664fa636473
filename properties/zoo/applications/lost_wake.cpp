// SPDX-License-Identifier: Apache-2.0

// A consumer asks whether there is a job before it locks the queue, and waits by what it has heard.
// The producer's notification may have come in between.

#include <deque>

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(LostWake) {
  Mutex mutex("queue");
  Condition added("added");
  std::deque<int> jobs;
  const auto producer = spawn("producer", [&] {
    delay(1ms);
    const Mutex::Guard guard(mutex);
    delay(1ms);  // the job goes into the journal first
    jobs.push_back(1);
    added.notify_one();
  });
  const auto consumer = spawn("consumer", [&] {
    delay(1500us);
    delay(500us);  // until it is ready for a job
    const bool nothing = jobs.empty();
    const Mutex::Guard guard(mutex);
    if (variant == Variant::Buggy) {
      if (nothing) added.wait(mutex);
    } else {
      added.wait(mutex, [&] { return !jobs.empty(); });
    }
    jobs.pop_front();
  });
  spawn_bystanders(3);
  await(producer);
  await(consumer);
}

}  // namespace fermata::properties::zoo
