// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/descendants.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <vector>

#include "fermata/base/assert.hpp"

namespace fermata::sim::cli {
namespace {

struct Living {
  const std::string* mark;
  const pid_t* process;
};

std::vector<Living>& living() {
  static std::vector<Living> all;
  return all;
}

std::vector<pid_t> children() {
  std::ifstream file("/proc/thread-self/children");
  std::vector<pid_t> all;
  for (pid_t child = 0; file >> child;) all.push_back(child);
  return all;
}

bool is_test_process(pid_t process) {
  return std::any_of(living().begin(), living().end(),
                     [&](const Living& one) { return *one.process == process; });
}

/// Whether the test process that it is from lives.
bool belongs_to_somebody(pid_t process) {
  FERMATA_ASSERT(process > 0);
  std::ifstream file(fmt::format("/proc/{}/environ", process));
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (std::any_of(living().begin(), living().end(),
                    [&](const Living& one) { return entry == *one.mark; })) {
      return true;
    }
  }
  return false;
}

/// Whether there was any that could be ended. Their children are orphans then.
bool end_descendants() {
  bool any = false;
  for (const pid_t process : children()) {
    if (is_test_process(process) || belongs_to_somebody(process)) continue;
    if (::kill(process, SIGKILL) != 0) continue;
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
    any = true;
  }
  return any;
}

}  // namespace

void become_subreaper() noexcept { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

Descendants::Descendants() {
  static std::uint64_t number = 0;
  mark_ = fmt::format("_FERMATA_HOUSEHOLD={}.{}", ::getpid(), ++number);
  living().push_back({&mark_, &process_});
}

void Descendants::end() noexcept {
  const auto gone = std::erase_if(living(), [&](const Living& one) { return one.mark == &mark_; });
  constexpr int kPasses = 1'000;  // Who forks faster than that is not to hold up the tool.
  for (int i = 0; gone > 0 && i < kPasses && end_descendants(); ++i) {
  }
}

}  // namespace fermata::sim::cli
