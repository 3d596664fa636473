// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_crew.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/cli/interrupts.hpp"
#include "fermata/sim/cli/verdict.hpp"

namespace fermata::sim::cli {
namespace {

constexpr int kPause_ms = 50;

pid_t start(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int code =
      ::posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, arguments.data(), ::environ);
  if (code != 0) throw InputOutputError("fleet work: start a worker", code);
  return process;
}

/// The exit code as a shell has it.
int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

/// Which of two exit codes of workers counts: that of a failure, else that of one who was told.
int graver(int a, int b) {
  const auto rank = [](int code) { return code == kPass ? 0 : code == kInterrupted ? 1 : 2; };
  return rank(b) > rank(a) ? b : a;
}

}  // namespace

int work_together(const std::string& root, unsigned jobs,
                  std::optional<std::chrono::milliseconds> time) {
  FERMATA_ASSERT(jobs > 0 && !root.empty());
  std::vector<std::string> words = {"fermata", "fleet", "work", root, "--jobs", "1"};
  if (time) words.insert(words.end(), {"--time", fmt::format("{}ms", time->count())});
  std::vector<pid_t> workers;
  for (unsigned i = 0; i < jobs; ++i) workers.push_back(start(words));
  int handed_on = 0;
  int code = kPass;
  while (!workers.empty()) {
    if (interrupts() > handed_on) {
      handed_on = interrupts();
      for (const pid_t worker : workers) ::kill(worker, SIGTERM);
    }
    ::poll(nullptr, 0, kPause_ms);
    std::erase_if(workers, [&](pid_t worker) {
      int status = 0;
      if (::waitpid(worker, &status, WNOHANG) == 0) return false;
      code = graver(code, code_of(status));
      return true;
    });
  }
  return code;
}

}  // namespace fermata::sim::cli
