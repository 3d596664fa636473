// SPDX-License-Identifier: Apache-2.0

// Two offices send each other their letters, two each, through boxes that hold one. When neither
// has emptied its own box before, both wait for the other one; a clock ticks on beside them, so
// that the program as a whole does not stand still.

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(ChannelCycle) {
  const std::size_t room = variant == Variant::Buggy ? 1 : 2;
  Channel<int> to_east("to east", room);
  Channel<int> to_west("to west", room);
  const auto exchange = [](const Channel<int>& inbox, const Channel<int>& outbox, Duration time) {
    int received = 0;
    while (inbox.try_recv()) ++received;
    delay(time);  // to write the letters
    outbox.send(1);
    outbox.send(2);
    while (received < 2) {
      static_cast<void>(inbox.recv());
      ++received;
    }
  };
  bool over = false;
  const auto clock = spawn("clock", [&] {
    while (!over) delay(1min);
  });
  const auto east = spawn("east", [&] { exchange(to_east, to_west, 2ms); });
  const auto west = spawn("west", [&] {
    delay(1ms);
    delay(1ms);  // opens later
    exchange(to_west, to_east, 1ms);
  });
  spawn_bystanders(3);
  await(east);
  await(west);
  over = true;
  await(clock);
}

}  // namespace fermata::properties::zoo
