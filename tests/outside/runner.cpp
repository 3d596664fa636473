// SPDX-License-Identifier: Apache-2.0

// Runs a program that is built as a shared library, with its main called outside_main, on Linux or
// as the program of a simulated machine.
//
// usage: outside_runner [--files FOLDER] [--helper NAME] linux|STRATEGY:SEED LIBRARY [ARGUMENT...]
//
// --files   what the working directory has, which is the root, in the simulated machine
// --helper  the argument of another process of the library, which runs first
//
// Prints "ends with N", what main returns or gives to exit(), or "fails: WHY" when it fails the
// run, and "trace HASH". Exits with 0 when it has printed one.

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
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
#include <vector>

#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"

namespace {

using Main = int(int, char**);

struct Options {
  std::string files;
  std::string helper;
  std::string place;
  std::vector<std::string> arguments;  // The library is the first.
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
  if (words.size() < 2) return std::nullopt;
  options.place = words[0];
  options.arguments.assign(words.begin() + 1, words.end());
  return options;
}

int call(Main* main, std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return main(static_cast<int>(words.size()), arguments.data());
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
void start_helper(void* library, Main* main, const Options& options) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return;
  if (::fork() == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ready_end = ends[1];
    if (void* const told = ::dlsym(library, "outside_ready")) {
      *static_cast<void (**)()>(told) = &tell_ready;
    }
    std::vector<std::string> words = {options.arguments.front(), options.helper};
    std::_Exit(call(main, words));
  }
  ::close(ends[1]);
  char byte = 0;
  static_cast<void>(::read(ends[0], &byte, 1));
  ::close(ends[0]);
}

void run_on_linux(void* library, Main* main, Options& options) {
  if (!options.helper.empty()) start_helper(library, main, options);
  fmt::print("ends with {}\n", call(main, options.arguments));
}

// --- in the world ---

void write_files(const std::map<std::string, std::optional<std::string>>& files) {
  ::mkdir("/tmp", 01777);  // As on Linux; the disk of a machine is empty.
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

void run_in_world(Main* main, Options& options) {
  const std::size_t colon = options.place.find(':');
  const auto strategy = fermata::sim::make_strategy(options.place.substr(0, colon));
  fermata::sim::Decisions decisions(*strategy);
  decisions.begin(std::strtoull(options.place.c_str() + colon + 1, nullptr, 0));
  const auto files = read_files(options.files);
  fermata::sim::World world(decisions, {.faults = fermata::sim::FaultSet::none()});
  int result = 0;
  world.node("main", [&] {
    write_files(files);
    result = call(main, options.arguments);
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

int main(int count, char** words) {
  std::optional<Options> options = parse({words, static_cast<std::size_t>(count)});
  if (!options || (options->place != "linux" && options->place.find(':') == std::string::npos)) {
    fmt::print(stderr,
               "usage: outside_runner [--files FOLDER] [--helper NAME] linux|STRATEGY:SEED "
               "LIBRARY [ARGUMENT...]\n");
    return 2;
  }
  const std::string& path = options->arguments.front();
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  Main* const outside =
      library == nullptr ? nullptr : reinterpret_cast<Main*>(::dlsym(library, "outside_main"));
  if (outside == nullptr) {
    fmt::print(stderr, "outside_runner: {}\n", ::dlerror());
    return 2;
  }
  if (options->place == "linux") {
    run_on_linux(library, outside, *options);
  } else {
    run_in_world(outside, *options);
  }
  std::fflush(stdout);
  std::_Exit(0);
}
