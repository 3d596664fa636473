// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/fresh_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <locale>
#include <string_view>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/run/process/process_wait.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::sim::detail {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  FERMATA_ASSERT(result.size() == texts.size() + 1);
  return result;
}

const std::chrono::steady_clock::time_point process_start = std::chrono::steady_clock::now();

}  // namespace

std::vector<std::string> environment_with(const Settings& settings) {
  std::vector<std::string> result;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool ours = text.substr(0, 8) == "FERMATA_" || text.substr(0, 6) == "GTEST_";
    if (!ours) result.emplace_back(text);
  }
  for (const auto& [name, value] : settings) result.push_back(name + '=' + value);
  FERMATA_ASSERT(result.size() >= settings.size());
  return result;
}

TemporaryFile::TemporaryFile() {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  if (error) throw InputOutputError("cannot create a file in the temporary folder", error.value());
  path_ = folder / "fermata-XXXXXX";
  const int file = ::mkstemp(path_.data());
  if (file < 0) throw InputOutputError("cannot create " + path_, errno);
  os::kernel.close(file);
}

TemporaryFile::~TemporaryFile() { ::unlink(path_.c_str()); }

void require_room(const std::string& path) { write_whole_file(path, std::string(4'096, ' ')); }

std::chrono::milliseconds patience_with_repetition() {
  using std::chrono::milliseconds;
  const auto age = std::chrono::steady_clock::now() - process_start;
  return std::max(milliseconds(60'000), std::chrono::duration_cast<milliseconds>(10 * age));
}

bool run_silently(std::vector<std::string> arguments, std::vector<std::string> environment,
                  std::chrono::milliseconds limit) {
  FERMATA_ASSERT(!arguments.empty());
  FERMATA_ASSERT(limit.count() > 0);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const std::string program = arguments.front();
  pid_t child = 0;
  const int error = ::posix_spawn(&child, program.c_str(), &actions, nullptr,
                                  pointers_to(arguments).data(), pointers_to(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw InputOutputError("cannot start " + program, error);
  RunClock clock;
  const bool ended = ends_before(child, [&] { return clock.on(0) >= limit; });
  if (!ended) os::kernel.kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return ended;
}

std::string Fingerprint::text() const {
  return fmt::format("{} (trace hash {:#x}, {} steps, {})", signature, trace_hash, steps,
                     describe(Instant{end}));
}

std::optional<Fingerprint> run_in_fresh_process(const Settings& settings, const std::string& test) {
  FERMATA_ASSERT(!test.empty());
  const TemporaryFile answer;
  Settings all = settings;
  all.emplace_back("FERMATA_INTERNAL_CONFIRM", answer.path());
  std::vector<std::string> command = arguments_for(test);
  command.insert(command.begin(), program_path());
  run_silently(std::move(command), environment_with(all));
  std::ifstream file(answer.path());
  file.imbue(std::locale::classic());  // The program may have chosen another one.
  Fingerprint fingerprint;
  file >> fingerprint.trace_hash >> fingerprint.steps >> fingerprint.end >> std::ws;
  if (std::getline(file, fingerprint.signature)) return fingerprint;
  require_room(answer.path());
  return std::nullopt;
}

void leave_fingerprint(const Fingerprint& fingerprint, const std::string& path) {
  FERMATA_ASSERT(!path.empty());
  FERMATA_ASSERT(!fingerprint.signature.empty());
  write_whole_file(path, fmt::format("{} {} {}\n{}\n", fingerprint.trace_hash, fingerprint.steps,
                                     fingerprint.end, fingerprint.signature));
}

}  // namespace fermata::sim::detail
