// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/cli/child.hpp"
#include "fermata/sim/cli/commands.hpp"
#include "fermata/sim/cli/gdb_extensions.hpp"
#include "fermata/sim/cli/search_path.hpp"
#include "fermata/sim/cli/tape_command.hpp"

namespace fermata::sim::cli {
namespace {

/// For the files that gdb reads; removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "fermata-debug-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw InputOutputError("cannot make " + path, errno);
    path_ = path;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }

  /// Returns the file.
  [[nodiscard]] std::string write(std::string_view name, std::string_view text) const {
    const std::string path = file(name);
    if (!(std::ofstream(path, std::ios::binary) << text).flush()) {
      throw InputOutputError("cannot write " + path, errno);
    }
    return path;
  }

 private:
  std::filesystem::path path_;
};

std::string find_gdb() {
  std::optional<std::string> gdb = find_in_path("gdb");
  if (!gdb) throw UsageError("there is no gdb in PATH: it comes with the package `gdb`");
  return *gdb;
}

/// By the name of the file, in the order in which they need each other.
std::array<std::pair<std::string_view, std::string_view>, 4> extensions() {
  return {{{"fermata.py", fermata_py()},
           {"fermata_replay.py", fermata_replay_py()},
           {"fermata_writes.py", fermata_writes_py()},
           {"fermata_why.py", fermata_why_py()}}};
}

/// Where to begin: a step, or "failure".
std::string first_place(const Arguments& arguments) {
  const auto given = arguments.settings.find("FERMATA_BREAK_AT");
  if (given == arguments.settings.end()) return "failure";
  const std::string& step = given->second.value;
  const bool is_number = !step.empty() && step.size() < 19 &&
                         step.find_first_not_of("0123456789") == std::string::npos;
  if (is_number && std::stoull(step) > 0) return step;
  throw UsageError(
      fmt::format("--at: '{}' is not a valid step; expected a number from 1 on", step));
}

/// Runs the tape once for a record of its steps. Returns the file, or "-" when there is none: a run
/// that ends its process leaves none.
std::string record_run(Command command, const TemporaryFolder& folder) {
  std::string file = folder.file("run.json");
  command.settings.emplace_back("FERMATA_REPORT", file);
  command.settings.emplace_back("FERMATA_REPORT_FORMAT", "json");
  command.settings.emplace_back("FERMATA_EXPLAIN", "off");
  FERMATA_ASSERT(!std::filesystem::exists(file));
  Child child(command);
  constexpr std::chrono::minutes kPatience{10};
  run_to_end(child, kPatience);
  if (std::filesystem::exists(file)) return file;
  fmt::print(stderr,
             "fermata: there is no record of this run, whose process {}: `fermata why` and the "
             "number of steps are missing\n",
             child.is_ended() ? child.ending().text() : "takes too long");
  return "-";
}

}  // namespace

int debug_command(const Arguments& arguments) {
  const std::string place = first_place(arguments);
  Command replay = command_for_tape(arguments);
  const std::string gdb = find_gdb();
  FERMATA_ASSERT(!gdb.empty());
  const TemporaryFolder folder;
  const std::string begin = fmt::format("fermata begin {} {}", record_run(replay, folder), place);
  Command debugger{.program = gdb, .arguments = {"-q"}, .settings = std::move(replay.settings)};
  auto& words = debugger.arguments;
  for (const auto& [name, text] : extensions()) {
    words.insert(words.end(), {"-ex", "source " + folder.write(name, text)});
  }
  words.insert(words.end(), {"-ex", begin});
  words.insert(words.end(), arguments.further.begin(), arguments.further.end());
  words.insert(words.end(), {"--args", replay.program});
  words.insert(words.end(), replay.arguments.begin(), replay.arguments.end());
  words.emplace_back("--gtest_brief=1");
  return run_in_foreground(debugger).code;
}

}  // namespace fermata::sim::cli
