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

SIM_TEST(Guide, ProcessesEndWell) {
  using fermata::sim::ScriptedProgram;
  world.program("echo hello", ScriptedProgram().says("hello\n"));
  world.program("printf 'one\\ntwo'", ScriptedProgram().says("one\ntwo"));
  world.program("echo straight through", ScriptedProgram().says("straight through\n"));
  world.program("sleep 60", ScriptedProgram().takes(std::chrono::minutes(1)));
  world.program("sleep", ScriptedProgram().takes(std::chrono::minutes(1)));
  world.program("tr", ScriptedProgram().copies_input());
  try {
    guide::processes::tour();
  } catch (const fermata::InputOutputError&) {  // There is no room for another process.
  }
}
