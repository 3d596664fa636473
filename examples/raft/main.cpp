// SPDX-License-Identifier: Apache-2.0

// Usage: example_raft NAME COMMAND..., in a folder of its own for each NAME: one, two or three. The
// node NAME of three on this machine, which proposes each COMMAND.

#include <cstdio>
#include <fermata/uv/reactor.hpp>
#include <span>

#include "examples/raft/raft.hpp"

int main(int argc, char** argv) {
  const Members members{
      {"one", {"127.0.0.1", 7031}}, {"two", {"127.0.0.1", 7032}}, {"three", {"127.0.0.1", 7033}}};
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  if (argc < 2 || members.count(arguments[1]) == 0) {
    std::fprintf(stderr, "usage: example_raft one|two|three COMMAND...\n");
    return 2;
  }
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([&] {
    const raft::Options options{
        .on_leader = [](int term,
                        const auto& name) { std::printf("%d: %s\n", term, name.c_str()); },
        .on_commit = [](int, const auto& entry) { std::printf("%s\n", entry.command.c_str()); }};
    fermata::spawn("client", [&] {
      for (const char* command : arguments.subspan(2)) raft::propose(members, command);
    });
    raft::run_node(arguments[1], members, options);
  });
}
