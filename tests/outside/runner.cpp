// SPDX-License-Identifier: Apache-2.0

// Runs functions of a shared library as programs, on Linux or on a simulated machine.
//
// usage: outside_runner [--files FOLDER] [--helper FUNCTION] linux|STRATEGY:SEED LIBRARY FUNCTION
//
// FUNCTION  a main; it may leave its arguments out
// --files   what the working directory has in the simulated machine
// --helper  the main of another process, which runs first, and ends with the first one
//
// Prints "ends with N", what the main returns or gives to exit(), or "fails: WHY" when it fails the
// run, and "trace HASH". Exits with 0 when it has printed one.

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fermata/core/suspend.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"

namespace {

using Main = int(int, char**);

struct Options {
  std::string files;
  std::string helper;
  std::string place;
  std::string library;
  std::string main;
};

std::optional<Options> parse(std::span<char*> words) {
  Options options;
  words = words.subspan(1);
  while (words.size() >= 2 && std::string_view(words[0]).starts_with("--")) {
    const std::string_view name = words[0];
    if (name != "--files" && name != "--helper") return std::nullopt;
    (name == "--files" ? options.files : options.helper) = words[1];
    words = words.subspan(2);
  }
  if (words.size() != 3) return std::nullopt;
  options.place = words[0];
  options.library = words[1];
  options.main = words[2];
  const bool is_known = options.place == "linux" || options.place.find(':') != std::string::npos;
  return is_known ? std::optional(options) : std::nullopt;
}

/// Null, and told, when there is none.
Main* find_main(void* library, const std::string& name) {
  void* const found = library == nullptr ? nullptr : ::dlsym(library, name.c_str());
  if (found == nullptr) fmt::print(stderr, "outside_runner: {}\n", ::dlerror());
  return reinterpret_cast<Main*>(found);
}

/// What a main is called with; its library may want to see it before.
int call(void* library, Main* main, std::string name) {
  std::array<char*, 2> arguments = {name.data(), nullptr};
  void* const begin = ::dlsym(library, "outside_begin");
  if (begin != nullptr) reinterpret_cast<void (*)(int, char**)>(begin)(1, arguments.data());
  return main(1, arguments.data());
}

/// Path from `folder` -> contents; without any of a folder.
std::map<std::string, std::optional<std::string>> read_files(const std::string& folder) {
  std::map<std::string, std::optional<std::string>> found;
  if (folder.empty()) return found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    std::optional<std::string>& contents =
        found[std::filesystem::relative(entry.path(), folder).string()];
    if (entry.is_directory()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    contents.emplace(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return found;
}

/// What it gives to exit(), which fails a run in a library.
std::optional<int> exit_code_of(std::string_view failure) {
  constexpr std::string_view kExit = "foreign code ends the process: exit(";
  if (!failure.starts_with(kExit)) return std::nullopt;
  return std::atoi(failure.data() + kExit.size());
}

// --- on Linux ---

int ready_end = -1;  // Of the helper.

void tell_ready() { static_cast<void>(::write(ready_end, "", 1)); }

/// Another process, which is there until this one ends; returns when it is ready.
void start_helper(void* library, Main* helper, const std::string& name) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return;
  if (::fork() == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ready_end = ends[1];
    if (void* const told = ::dlsym(library, "outside_ready")) {
      *static_cast<void (**)()>(told) = &tell_ready;
    }
    std::_Exit(call(library, helper, name));
  }
  ::close(ends[1]);
  char byte = 0;
  static_cast<void>(::read(ends[0], &byte, 1));
  ::close(ends[0]);
}

// --- in the world ---

/// What a system has; the disk of a machine is empty.
void make_folders() {
  ::mkdir("/tmp", 01777);
  ::mkdir("/home", 0755);
  ::chdir("/home");
}

void write_files(const std::map<std::string, std::optional<std::string>>& files) {
  for (const auto& [path, contents] : files) {
    if (!contents) {
      ::mkdir(path.c_str(), 0755);
      continue;
    }
    const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    static_cast<void>(::write(file, contents->data(), contents->size()));
    ::close(file);
  }
}

bool is_ready = false;  // The helper.

/// Another process of the machine; returns when it is ready.
void begin_helper(void* library, Main* helper, const std::string& name) {
  using namespace std::chrono_literals;
  fermata::sim::begin_process("helper", [=] {
    if (void* const told = ::dlsym(library, "outside_ready")) {
      *static_cast<void (**)()>(told) = [] { is_ready = true; };
    }
    static_cast<void>(call(library, helper, name));
  });
  while (!is_ready) fermata::delay(1ms);
}

void run_in_world(void* library, Main* main, Main* helper, const Options& options) {
  const std::size_t colon = options.place.find(':');
  const auto strategy = fermata::sim::make_strategy(options.place.substr(0, colon));
  fermata::sim::Decisions decisions(*strategy);
  decisions.begin(std::strtoull(options.place.c_str() + colon + 1, nullptr, 0));
  const auto files = read_files(options.files);
  fermata::sim::World world(decisions, {.faults = fermata::sim::FaultSet::none()});
  int result = 0;
  world.node("main", [&] {
    make_folders();
    write_files(files);
    if (helper != nullptr) begin_helper(library, helper, options.library);
    result = call(library, main, options.library);
  });
  world.run();
  const std::string failure = world.failure() ? world.failure()->message : std::string();
  if (const std::optional<int> code = exit_code_of(failure)) result = *code;
  if (failure.empty() || exit_code_of(failure)) {
    fmt::print("ends with {}\n", result);
  } else {
    fmt::print("fails: {}\n", failure);
    fmt::print(stderr, "{}", world.failure()->explanation);
  }
  fmt::print("trace {:#x}\n", world.trace_hash());
}

}  // namespace

int main(int count, char** words) {
  const std::optional<Options> options = parse({words, static_cast<std::size_t>(count)});
  if (!options) {
    fmt::print(stderr,
               "usage: outside_runner [--files FOLDER] [--helper FUNCTION] linux|STRATEGY:SEED "
               "LIBRARY FUNCTION\n");
    return 2;
  }
  void* const library = ::dlopen(options->library.c_str(), RTLD_NOW | RTLD_LOCAL);
  Main* const outside = find_main(library, options->main);
  Main* const helper = options->helper.empty() ? nullptr : find_main(library, options->helper);
  if (outside == nullptr || (helper == nullptr && !options->helper.empty())) return 2;
  if (options->place == "linux") {
    if (helper != nullptr) start_helper(library, helper, options->library);
    fmt::print("ends with {}\n", call(library, outside, options->library));
  } else {
    run_in_world(library, outside, helper, *options);
  }
  std::fflush(stdout);
  std::_Exit(0);
}
