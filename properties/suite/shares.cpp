// SPDX-License-Identifier: Apache-2.0
#include "properties/suite/shares.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/run/process/fork.hpp"
#include "fermata/sim/run/process/watched_exploration.hpp"
#include "properties/suite/self_checks.hpp"

namespace fermata::properties::suite {
namespace {

constexpr std::size_t kShares = 2;

/// What the shares come to, in memory that forks share.
class SharedResults {
 public:
  SharedResults()
      : memory_(
            ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw InputOutputError("cannot share memory", errno);
    for (std::size_t i = 0; i < kShares; ++i) new (&of(i)) Result;
  }
  SharedResults(const SharedResults&) = delete;
  SharedResults& operator=(const SharedResults&) = delete;
  ~SharedResults() { ::munmap(memory_, kBytes); }

  [[nodiscard]] Result& of(std::size_t share) const {
    FERMATA_ASSERT(share < kShares);
    return static_cast<Result*>(memory_)[share];
  }

 private:
  static_assert(std::is_trivially_copyable_v<Result>, "processes cannot share it");
  static constexpr std::size_t kBytes = kShares * sizeof(Result);

  void* memory_;
};

int explore_watched(const Choice& choice, Share share, Result& result) {
  return sim::explore_watched(
      [&](const sim::SharedStatus& status) { return explore(choice, share, status, result); },
      [](std::string_view name, std::uint64_t run) {
        return fmt::format("fermata_suite --only {} --runs {}", name, run + 1);
      });
}

/// What the first of `processes` that has failed ends with; the others are ended then.
int join(std::vector<pid_t> processes) {
  int failed = 0;
  while (!processes.empty()) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended < 0 && errno == EINTR) continue;
    [[maybe_unused]] const std::size_t erased = std::erase(processes, ended);
    FERMATA_ASSERT(erased == 1);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code == 0 || failed != 0) continue;
    failed = code;
    for (const pid_t each : processes) ::kill(each, SIGKILL);
  }
  return failed;
}

int explore_all(const Choice& choice, Result& result) {
  // A debugger may want to see it.
  if (choice.runs == 1) return explore(choice, {}, sim::SharedStatus::open({}), result);
  const SharedResults results;
  int code = 0;
  if (chosen(choice).size() < kShares) {
    code = explore_watched(choice, {}, results.of(0));
  } else {
    std::vector<pid_t> processes;
    for (std::size_t i = 0; i < kShares; ++i) {
      processes.push_back(sim::start_fork([&, i] {
        return explore_watched(choice, {i, kShares}, results.of(i));
      }));
    }
    code = join(std::move(processes));
  }
  for (std::size_t i = 0; i < kShares; ++i) result.add(results.of(i));
  return code;
}

}  // namespace

int explore_in_shares(const Choice& choice) {
  const auto start = std::chrono::steady_clock::now();
  Result result;
  if (const int code = explore_all(choice, result)) return code;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  print(choice, result, took.count());
  return choice.is_default() ? check_faults(result) : 0;
}

}  // namespace fermata::properties::suite
