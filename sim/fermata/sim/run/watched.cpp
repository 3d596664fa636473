// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/watched.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "fermata/base/error.hpp"
#include "fermata/sim/run/forked_runs.hpp"
#include "fermata/sim/run/process_wait.hpp"

namespace fermata::sim {
namespace {

constexpr int kCrashed = 9;
constexpr int kHung = 124;

/// Removed at the end; left behind by who is killed.
class BoardFile {
 public:
  BoardFile()
      : path_(std::filesystem::temp_directory_path() / fmt::format("fermata-{}.board", ::getpid())),
        board_(Board::create(path_)) {}
  BoardFile(const BoardFile&) = delete;
  BoardFile& operator=(const BoardFile&) = delete;
  ~BoardFile() { ::unlink(path_.c_str()); }

  [[nodiscard]] const Board& board() const noexcept { return board_; }
  [[nodiscard]] const BoardPage& page() const noexcept { return board_.page(); }

 private:
  std::string path_;
  Board board_;
};

pid_t start(const WatchedExploration& explore, const Board& board) {
  std::fflush(nullptr);  // Or both would print it.
  const pid_t process = ::fork();
  if (process < 0) throw InputOutputError("cannot fork", errno);
  if (process > 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int code = 1;
  try {
    code = explore(board);
    board.page().phase.store(BoardPage::Phase::Over);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    board.page().phase.store(BoardPage::Phase::Over);
  }
  std::fflush(nullptr);
  ::_exit(code);
}

void report(const BoardPage& page, const std::string& ending, const ReproduceLine& reproduce) {
  const std::uint64_t run = page.run.load();
  fmt::print(stderr, "\n{}: run {}: {}\nreproduce: {}\n", page.test, run + 1, ending,
             reproduce(page.test, run));
}

}  // namespace

int explore_watched(const WatchedExploration& explore, const ReproduceLine& reproduce,
                    WatchLimits limits) {
  const BoardFile file;
  const pid_t process = start(explore, file.board());
  detail::RunClock clock;
  const auto limit = [&] {
    return std::max<std::chrono::nanoseconds>(limits.least, clock.longest() * limits.times);
  };
  const bool hangs =
      !detail::ends_before(process, [&] { return clock.on(file.page().run.load()) > limit(); });
  if (hangs) ::kill(process, SIGKILL);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (hangs) {
    const auto limit_ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit());
    report(file.page(), fmt::format("hang: took longer than {} ms", limit_ms.count()), reproduce);
    return kHung;
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  if (WIFEXITED(status) && file.page().phase.load() == BoardPage::Phase::Over) return code;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  report(file.page(), "crash: the process " + detail::ending_text(signal, code), reproduce);
  return kCrashed;
}

}  // namespace fermata::sim
