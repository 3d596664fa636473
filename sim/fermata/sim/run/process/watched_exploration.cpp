// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/process/watched_exploration.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/record/crash.hpp"
#include "fermata/sim/run/process/fork.hpp"
#include "fermata/sim/run/process/process_wait.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::sim {
namespace {

constexpr int kCrashed = 9;
constexpr int kHung = 124;

/// Removed at the end; left behind by who is killed.
class StatusFile {
 public:
  StatusFile()
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("fermata-{}.status", os::kernel.getpid())),
        status_(SharedStatus::create(path_)) {}
  StatusFile(const StatusFile&) = delete;
  StatusFile& operator=(const StatusFile&) = delete;
  ~StatusFile() { ::unlink(path_.c_str()); }

  [[nodiscard]] const SharedStatus& status() const noexcept { return status_; }
  [[nodiscard]] const StatusPage& page() const noexcept { return status_.page(); }

 private:
  std::string path_;
  SharedStatus status_;
};

pid_t start(const WatchedExploration& explore, const SharedStatus& status) {
  return start_fork([&] {
    struct Over {
      StatusPage& page;
      ~Over() { page.phase.store(StatusPage::Phase::Over); }
    } const over{status.page()};
    return explore(status);
  });
}

void report(const StatusPage& page, const std::string& ending, const ReproduceLine& reproduce) {
  FERMATA_ASSERT(!ending.empty());
  const std::uint64_t run = page.run.load();
  fmt::print(stderr, "\n{}: run {}: {}\nreproduce: {}\n", page.test, run + 1, ending,
             reproduce(page.test, run));
}

}  // namespace

int explore_watched(const WatchedExploration& explore, const ReproduceLine& reproduce,
                    WatchLimits limits) {
  FERMATA_REQUIRE(explore != nullptr, "an exploration is needed");
  FERMATA_REQUIRE(reproduce != nullptr, "a line that repeats a run is needed");
  const StatusFile file;
  const pid_t process = start(explore, file.status());
  detail::RunClock clock;
  const auto limit = [&] {
    return std::max<std::chrono::nanoseconds>(limits.least, clock.longest() * limits.times);
  };
  const bool hangs =
      !detail::ends_before(process, [&] { return clock.on(file.page().run.load()) > limit(); });
  if (hangs) os::kernel.kill(process, SIGKILL);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (hangs) {
    const auto limit_ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit());
    report(file.page(), fmt::format("hang: took longer than {} ms", limit_ms.count()), reproduce);
    return kHung;
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  if (WIFEXITED(status) && file.page().phase.load() == StatusPage::Phase::Over) return code;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  report(file.page(), "crash: the process " + ending_text(signal, code), reproduce);
  return kCrashed;
}

}  // namespace fermata::sim
