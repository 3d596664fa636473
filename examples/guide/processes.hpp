// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/processes.md, so that what the page shows is compiled and run.

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fermata/io/exec.hpp>
#include <fermata/runtime.hpp>
#include <span>
#include <string>
#include <vector>

namespace guide::processes {

using namespace std::chrono_literals;

inline void commands() {
  const fermata::ExecResult greeting = fermata::exec("echo hello");
  if (greeting.exit.success()) std::printf("it says %s\n", greeting.text.c_str());

  std::vector<std::string> lines;
  fermata::exec_lines("printf 'one\\ntwo'", lines);
  for (const std::string& line : lines) std::printf("line: %s\n", line.c_str());

  fermata::exec_to("echo straight through", [](std::string_view piece) {
    std::fwrite(piece.data(), 1, piece.size(), stdout);
  });
}

inline void deadline() {
  try {
    fermata::exec("sleep 60", {}, {.timeout = 20ms});
  } catch (const fermata::Timeout&) {
    std::printf("it was told to end\n");
  }
}

inline std::string upper_case(std::string text) {
  fermata::Process tr = fermata::Process::spawn({.program = "tr",
                                                 .arguments = {"a-z", "A-Z"},
                                                 .input = fermata::Stdio::Pipe,
                                                 .output = fermata::Stdio::Pipe,
                                                 .terminate_when_dropped = true});
  tr.input().write(text);
  tr.input().close();
  tr.output().read_exact(std::as_writable_bytes(std::span(text)));
  tr.wait();
  return text;
}

inline void killing() {
  fermata::Process server = fermata::Process::spawn(
      {.program = "sleep", .arguments = {"60"}, .terminate_when_dropped = true});
  server.kill(SIGTERM);
  try {
    server.wait({.timeout = 1s});
  } catch (const fermata::Timeout&) {
    server.kill(SIGKILL);
  }
  std::printf("%s\n", server.wait().text().c_str());
}

inline void signals() {
  const fermata::Future<int> reload = fermata::signal(SIGHUP);
  const auto minute = fermata::make_timeout(20ms);
  try {
    fermata::await(reload, {.token = minute.get()});
  } catch (const fermata::OperationCancelled&) {
    std::printf("nobody wants a reload\n");
  }
}

inline void tour() {
  commands();
  deadline();
  std::printf("%s\n", upper_case("loud").c_str());
  killing();
  signals();
}

}  // namespace guide::processes
