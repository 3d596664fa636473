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
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/cli/child.hpp"
#include "fermata/sim/cli/interrupts.hpp"
#include "fermata/sim/cli/verdict.hpp"
#include "fermata/sim/fleet/worker_status.hpp"

namespace fermata::sim::cli {
namespace {

using std::chrono::milliseconds;

constexpr int kPause_ms = 50;
/// Number of workers that may die in a row when none of the crew has done a chunk in between.
constexpr int kMostDeathsInVain = 3;

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

/// Which of two exit codes of workers counts: that of a failure, else that of one who was told.
int graver(int a, int b) {
  const auto rank = [](int code) { return code == kPass ? 0 : code == kInterrupted ? 1 : 2; };
  return rank(b) > rank(a) ? b : a;
}

/// Workers of one machine, as many as there should be.
class Crew {
  using Clock = std::chrono::steady_clock;

 public:
  Crew(std::string root, unsigned jobs, std::optional<milliseconds> time)
      : root_(std::move(root)), time_(time) {
    for (unsigned i = 0; i < jobs; ++i) begin_worker();
  }

  /// Waits for all of them. Returns their exit code.
  int run() {
    while (!workers_.empty()) {
      hand_interrupts_on();
      ::poll(nullptr, 0, kPause_ms);
      int status = 0;
      for (std::size_t i = 0; i < workers_.size();) {
        const pid_t worker = workers_[i];
        if (::waitpid(worker, &status, WNOHANG) != worker) {
          ++i;
          continue;
        }
        workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
        if (WIFEXITED(status)) {
          code_ = graver(code_, WEXITSTATUS(status));
        } else {
          replace(worker, Ending{.signal = WTERMSIG(status)}.text());
        }
      }
    }
    if (!complaint_.empty()) throw Error(complaint_);
    return interrupts() > 0 && has_lost_one_ ? graver(code_, kInterrupted) : code_;
  }

 private:
  [[nodiscard]] milliseconds left() const {
    return *time_ - std::chrono::duration_cast<milliseconds>(Clock::now() - began_);
  }

  void begin_worker() {
    std::vector<std::string> words = {"fermata", "fleet", "work", root_, "--jobs", "1"};
    if (time_)
      words.insert(words.end(),
                   {"--time", fmt::format("{}ms", std::max(left(), milliseconds(1)).count())});
    workers_.push_back(start(words));
    names_.push_back(name_begin_of_worker(workers_.back()));
  }

  void hand_interrupts_on() {
    if (interrupts() == handed_on_) return;
    handed_on_ = interrupts();
    end_all();
  }

  void end_all() const {
    for (const pid_t worker : workers_) ::kill(worker, SIGTERM);
  }

  /// Begins another one in the place of `worker`, as long as that makes sense.
  void replace(pid_t worker, const std::string& ending) {
    has_lost_one_ = true;
    const std::uint64_t done = chunks_done();
    FERMATA_ASSERT(done >= done_before_);
    deaths_ = done > std::exchange(done_before_, done) ? 1 : deaths_ + 1;
    const bool is_over = interrupts() > 0 || (time_ && left() <= milliseconds(0));
    if (is_over || !complaint_.empty()) return;
    if (deaths_ >= kMostDeathsInVain) {
      complaint_ = fmt::format(
          "fleet work: {} workers have died one after the other, and none has done a chunk: the "
          "last one {}; expected them to work (is there memory for {} at a time?)",
          deaths_, ending, workers_.size() + 1);
      end_all();
      return;
    }
    fmt::print(stderr, "worker {} {}; another one takes its place\n", worker, ending);
    begin_worker();
  }

  /// By all workers of the crew, as far as they have told.
  [[nodiscard]] std::uint64_t chunks_done() const {
    std::uint64_t done = 0;
    std::error_code error;
    const std::filesystem::path folder(fleet::PlanFolder(root_).workers());
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      const bool is_own = std::any_of(names_.begin(), names_.end(), [&](const std::string& own) {
        return name.starts_with(own);
      });
      if (!is_own) continue;
      const auto status = fleet::WorkerStatus::parse(whole_file(entry->path().string()));
      done += status.done + status.twice;
    }
    return std::max(done, done_before_);  // A file may be replaced just now.
  }

  const std::string root_;
  const std::optional<milliseconds> time_;
  const Clock::time_point began_ = Clock::now();
  std::vector<pid_t> workers_;
  std::vector<std::string> names_;  // How those of all that were ever begun begin.
  int handed_on_ = 0;
  int code_ = kPass;
  int deaths_ = 0;  // Since a chunk was done.
  std::uint64_t done_before_ = 0;
  bool has_lost_one_ = false;
  std::string complaint_;
};

}  // namespace

std::string name_begin_of_worker(pid_t process) {
  char host[65] = "";
  ::gethostname(host, sizeof host - 1);
  return fmt::format("{}-{}-", host, process);
}

int work_together(const std::string& root, unsigned jobs, std::optional<milliseconds> time) {
  FERMATA_ASSERT(jobs > 0 && !root.empty());
  return Crew(root, jobs, time).run();
}

}  // namespace fermata::sim::cli
