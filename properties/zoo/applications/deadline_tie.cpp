// SPDX-License-Identifier: Apache-2.0

// A receiver that waits no longer closes its channel. What has been accepted until then is in there
// though it came as late as the deadline.

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(DeadlineTie) {
  Channel<int> alarms("alarms", 1);
  int sent = 0;
  int heard = 0;
  const auto sensor = spawn("sensor", [&] {
    delay(1ms);
    try {
      alarms.send(1);
      ++sent;
    } catch (const ChannelError&) {  // It knows that nobody has heard it.
    }
  });
  const auto guard = spawn("guard", [&] {
    try {
      heard += alarms.recv({.timeout = 2ms});
    } catch (const Timeout&) {
      alarms.close();
      if (variant == Variant::Correct && alarms.next()) ++heard;
    }
  });
  spawn_bystanders(3);
  await(sensor);
  await(guard);
  EXPECT_EQ(heard, sent);
}

}  // namespace fermata::properties::zoo
