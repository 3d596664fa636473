// SPDX-License-Identifier: Apache-2.0
#pragma once

// Programs whose run is watched, and what there is to show of it.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/udp.hpp"
#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/report/run_report.hpp"
#include "fermata/sim/run/runner.hpp"
#include "tests/support/bytes.hpp"

namespace fermata::test {

using Body = std::function<void(sim::World& world)>;

struct WatchedRun {
  sim::RunResult result;
  sim::RunReport report;  // Its names are those of the run.
  std::shared_ptr<const sim::RunLog> run_log;
};

/// One run of `body`, calm and without faults unless told otherwise.
inline WatchedRun watched_run(Body body,
                              sim::WorldOptions options = {.faults = sim::FaultSet::none()},
                              std::uint64_t seed = 1, std::string_view strategy = "fifo") {
  sim::Program program;
  program.body = std::move(body);
  sim::Runner runner(program, strategy, options);
  runner.set_recording(true);
  WatchedRun run;
  run.result = runner.run(seed);
  run.run_log = runner.run_log();
  run.report.test = "Suite.Name";
  run.report.seed = seed;
  run.report.strategy = strategy;
  run.report.reproduce = "FERMATA_SEED=0x1 ./test";
  run.report.failure = run.result.failure;
  run.report.runs.push_back(
      {"run", runner.run_log(), runner.decisions().names().all(), std::nullopt});
  return run;
}

/// A server at port 80 that answers one request, and reads until the end.
inline void serve() {
  TcpListener listener = TcpListener::bind({"0.0.0.0", 80});
  auto peer = listener.accept();
  std::array<std::byte, 4096> buffer;
  bool answered = false;
  while (peer->read(buffer) > 0) {
    if (!std::exchange(answered, true)) peer->write(bytes_of("welcome"));
  }
}

/// The main program and `server`, which exchange "hello" and "welcome" over TCP.
inline void greet(sim::World& world) {
  world.node("server", serve);
  delay(std::chrono::milliseconds(1));
  TcpStream stream = TcpStream::connect(world.node("server").address(80));
  stream.write(bytes_of("hello"));
  std::array<std::byte, 64> buffer;
  stream.read(buffer);
  stream.close();
  world.run();
}

/// A connect that finds nobody who listens.
inline void be_refused(sim::World& world) {
  world.node("server", [] { delay(std::chrono::seconds(1)); });
  EXPECT_THROW(static_cast<void>(TcpStream::connect(world.node("server").address(80))),
               InputOutputError);
  world.run();
}

/// Three datagrams from port 1234: "odd" is taken at port 53 of `server`, "nobody" goes to a port
/// of it that nobody has, and "nowhere" to no machine.
inline void scatter(sim::World& world) {
  world.node("server", [] {
    UdpSocket socket = UdpSocket::bind({"0.0.0.0", 53});
    std::array<std::byte, 64> buffer;
    socket.receive(buffer);
  });
  delay(std::chrono::milliseconds(1));
  UdpSocket socket = UdpSocket::bind({"0.0.0.0", 1234});
  socket.send_to(bytes_of("odd"), world.node("server").address(53));
  socket.send_to(bytes_of("nobody"), world.node("server").address(54));
  socket.send_to(bytes_of("nowhere"), Address("10.0.0.77", 53));
  world.run();
}

}  // namespace fermata::test
