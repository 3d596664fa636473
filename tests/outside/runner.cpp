// SPDX-License-Identifier: Apache-2.0

// Runs a program that is built as a shared library, with its main called outside_main, on Linux or
// as the program of a simulated machine.
//
// usage: outside_runner linux LIBRARY | outside_runner world LIBRARY SEED STRATEGY
//
// Prints "ends with N", what main returns or gives to exit(), or "fails: WHY" when it fails the
// run, and "trace HASH". Exits with 0 when it has printed one.

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"

namespace {

using Main = int(int, char**);

Main* load(const char* library) {
  void* const loaded = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    fmt::print(stderr, "outside_runner: {}\n", ::dlerror());
    return nullptr;
  }
  return reinterpret_cast<Main*>(::dlsym(loaded, "outside_main"));
}

int call(Main* main, char* library) {
  std::array<char*, 2> arguments = {library, nullptr};
  return main(1, arguments.data());
}

/// What it gives to exit(), which fails a run in a library.
std::optional<int> exit_code_of(std::string_view failure) {
  constexpr std::string_view kExit = "foreign code ends the process: exit(";
  if (!failure.starts_with(kExit)) return std::nullopt;
  return std::atoi(failure.data() + kExit.size());
}

void run_in_world(Main* main, char* library, std::uint64_t seed, std::string_view strategy_name) {
  const auto strategy = fermata::sim::make_strategy(strategy_name);
  fermata::sim::Decisions decisions(*strategy);
  decisions.begin(seed);
  fermata::sim::World world(decisions, {});
  int result = 0;
  world.node("main", [&] {
    ::mkdir("/tmp", 01777);  // As on Linux; the disk of a machine is empty.
    result = call(main, library);
  });
  world.run();
  const std::string failure = world.failure() ? world.failure()->message : std::string();
  if (const std::optional<int> code = exit_code_of(failure)) result = *code;
  if (failure.empty() || exit_code_of(failure)) {
    fmt::print("ends with {}\n", result);
  } else {
    fmt::print("fails: {}\n", failure);
  }
  fmt::print("trace {:#x}\n", world.trace_hash());
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view where = count > 2 ? arguments[1] : "";
  if ((where != "linux" || count != 3) && (where != "world" || count != 5)) {
    fmt::print(stderr,
               "usage: outside_runner linux LIBRARY\n"
               "       outside_runner world LIBRARY SEED STRATEGY\n");
    return 2;
  }
  Main* const outside = load(arguments[2]);
  if (outside == nullptr) return 2;
  if (where == "linux") {
    fmt::print("ends with {}\n", call(outside, arguments[2]));
  } else {
    run_in_world(outside, arguments[2], std::strtoull(arguments[3], nullptr, 0), arguments[4]);
  }
  std::fflush(stdout);
  std::_Exit(0);
}
