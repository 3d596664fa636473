// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/record/crash.hpp"

namespace fermata::sim::cli {
namespace {

/// The words of an execve(), which must outlive it.
class Words {
 public:
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
    FERMATA_ASSERT(pointers_.size() == words_.size() + 1);
  }
  [[nodiscard]] char* const* pointers() { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

Words arguments_of(const Command& command) {
  FERMATA_ASSERT(!command.program.empty());
  std::vector<std::string> words = {command.program};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  return Words(std::move(words));
}

Words environment_of(const Command& command, const std::string& mark = {}) {
  std::vector<std::string> words;
  if (!mark.empty()) words.push_back(mark);
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("FERMATA_") && !text.starts_with("GTEST_")) words.emplace_back(text);
  }
  for (const auto& [name, value] : command.settings) words.push_back(name + '=' + value);
  return Words(std::move(words));
}

struct Pipe {
  int read = -1;
  int write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw InputOutputError("cannot make a pipe", errno);
  FERMATA_ASSERT(ends[0] >= 0);
  FERMATA_ASSERT(ends[1] >= 0);
  return {ends[0], ends[1]};
}

void limit_memory(std::uint64_t bytes) {
  if (bytes == 0) return;
  const rlimit limit{bytes, bytes};
  ::setrlimit(RLIMIT_AS, &limit);
}

Ending ending_of(int status, const rusage& usage) {
  FERMATA_ASSERT(WIFSIGNALED(status) || WIFEXITED(status));
  Ending ending;
  ending.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  ending.code = ending.signal != 0 ? 128 + ending.signal : WEXITSTATUS(status);
  ending.resident_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return ending;
}

// Between fork and exec: only what is safe there.
[[noreturn]] void go_on_as(const char* program, char* const* arguments, char* const* environment,
                           int output, int trouble, std::uint64_t memory_limit) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  for (const int signum : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) ::signal(signum, SIG_DFL);
  limit_memory(memory_limit);
  ::execve(program, arguments, environment);
  const int error = errno;
  static_cast<void>(!::write(trouble, &error, sizeof error));
  ::_exit(127);
}

}  // namespace

std::string Ending::text() const { return ending_text(signal, code); }

Child::Child(const Command& command) {
  Words arguments = arguments_of(command);
  Words environment = environment_of(command, descendants_.mark());
  const Pipe output = make_pipe();
  const Pipe trouble = make_pipe();
  process_ = ::fork();
  if (process_ == 0) {
    go_on_as(command.program.c_str(), arguments.pointers(), environment.pointers(), output.write,
             trouble.write, command.memory_limit);
  }
  const int fork_error = process_ < 0 ? errno : 0;
  ::close(output.write);
  ::close(trouble.write);
  int error = fork_error;
  if (error == 0 && ::read(trouble.read, &error, sizeof error) != sizeof error) error = 0;
  ::close(trouble.read);
  output_ = output.read;
  if (error == 0) {
    FERMATA_ASSERT(process_ > 0);
    descendants_.belong_to(process_);
    ::setpgid(process_, process_);
    ::fcntl(output_, F_SETFL, O_NONBLOCK);
    end_ = static_cast<int>(::syscall(SYS_pidfd_open, process_, 0));
    return;
  }
  if (process_ > 0) ::waitpid(process_, nullptr, 0);
  ::close(output_);
  throw InputOutputError("cannot start " + command.program, error);
}

Child::~Child() {
  if (!ended_) {
    kill();
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close_output();
  if (end_ >= 0) ::close(end_);
}

void Child::close_output() noexcept {
  if (output_ >= 0) ::close(output_);
  output_ = -1;
}

void Child::read_output() {
  std::array<char, 65536> chunk;
  while (output_ >= 0) {
    const ssize_t count = ::read(output_, chunk.data(), chunk.size());
    if (count > 0) {
      text_.append({chunk.data(), static_cast<std::size_t>(count)});
      // Whoever prints without an end does not keep the tool from anything else.
      if (count < static_cast<ssize_t>(chunk.size())) return;
    } else {
      if (count == 0) close_output();
      return;
    }
  }
}

bool Child::has_ended() {
  if (ended_) return true;
  int status = 0;
  rusage usage{};
  if (::wait4(process_, &status, WNOHANG, &usage) != process_) return false;
  kill();  // What it has forked.
  descendants_.end();
  ended_ = true;
  ending_ = ending_of(status, usage);
  read_output();
  return true;
}

void Child::kill() const noexcept {
  FERMATA_ASSERT(process_ > 0);
  ::kill(-process_, SIGKILL);
}

bool run_to_end(Child& child, std::chrono::milliseconds limit,
                const std::function<bool()>& unwanted) {
  using Clock = std::chrono::steady_clock;
  constexpr int kPatience_ms = 20;
  const auto end = Clock::now() + limit;
  FERMATA_ASSERT(limit.count() > 0);
  while (!child.has_ended()) {
    std::array<pollfd, 2> watched = {
        {{child.descriptor(), POLLIN, 0}, {child.end_descriptor(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(), kPatience_ms);
    child.read_output();
    if (Clock::now() < end && (!unwanted || !unwanted())) continue;
    child.kill();
    return false;
  }
  return true;
}

Ending run_in_foreground(const Command& command) {
  Words arguments = arguments_of(command);
  Words environment = environment_of(command);
  pid_t process = 0;
  const int error = ::posix_spawn(&process, command.program.c_str(), nullptr, nullptr,
                                  arguments.pointers(), environment.pointers());
  if (error != 0) throw InputOutputError("cannot start " + command.program, error);
  // Ctrl-C is the program's.
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGINT, &ignore, &before);
  int status = 0;
  rusage usage{};
  while (::wait4(process, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  ::sigaction(SIGINT, &before, nullptr);
  return ending_of(status, usage);
}

void become(const Command& command) {
  Words arguments = arguments_of(command);
  Words environment = environment_of(command);
  ::execve(command.program.c_str(), arguments.pointers(), environment.pointers());
  throw InputOutputError("cannot start " + command.program, errno);
}

}  // namespace fermata::sim::cli
