// SPDX-License-Identifier: Apache-2.0

// The guide's tours in the simulator: each ends well under every schedule.

#include <fermata/sim.hpp>

#include "examples/guide/whole_tour.hpp"

SIM_TEST(Guide, CoroutinesEndWell) { guide::coroutines::tour(); }
SIM_TEST(Guide, ScopesEndWell) { guide::scopes::tour(); }
SIM_TEST(Guide, CancellationEndWell) { guide::cancellation::tour(); }
SIM_TEST(Guide, ChannelsEndWell) { guide::channels::tour(); }
SIM_TEST(Guide, PoolsEndWell) { guide::pools::tour(); }
SIM_TEST(Guide, TaskGroupsEndWell) { guide::task_groups::tour(); }
SIM_TEST(Guide, LocksEndWell) { guide::locks::tour(); }
SIM_TEST(Guide, FuturesEndWell) { guide::futures::tour(); }
SIM_TEST(Guide, UdpEndWell) { guide::udp::tour(); }
SIM_TEST(Guide, FilesEndWell) { guide::files::tour(); }
SIM_TEST(Guide, ThreadsEndWell) { guide::threads::tour(); }

SIM_TEST(Guide, TerminalsHaveTheTestAsTheirUser) {
  fermata::sim::Terminal& terminal = world.node("main").terminal();
  terminal.type("Ada\n");
  auto input = fermata::TtyStream::input();
  EXPECT_EQ(guide::network::line_of(input), "Ada");
  EXPECT_EQ(terminal.take_output(), "Ada\r\n");  // The echo.
}

SIM_TEST(Guide, NetworkEndsWell) {
  try {
    guide::network::tour();
  } catch (const fermata::InputOutputError&) {  // The network may break what it carries.
  } catch (const fermata::Timeout&) {           // And hang a connect.
  }
}
