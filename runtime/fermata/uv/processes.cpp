// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/processes.hpp"

#include <sys/wait.h>

#include <array>

#include "fermata/base/assert.hpp"
#include "fermata/uv/spawning.hpp"
#include "fermata/uv/stream.hpp"

namespace fermata::uv::detail {

namespace {

/// A descriptor of this number or more is none of the child's standard streams.
constexpr int kFirstFree = 3;

OwnedDescriptor above_standard_streams(OwnedDescriptor descriptor) {
  FERMATA_ASSERT(descriptor.get() >= 0);
  if (descriptor.get() >= kFirstFree) return descriptor;
  OwnedDescriptor higher(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kFirstFree));
  if (higher.get() < 0) throw InputOutputError("open a pipe", errno);
  return higher;
}

/// One standard stream of a child: what it is told to do about it, and this program's end.
class ChildStream {
 public:
  ChildStream(int number, Stdio kind) : number_(number), kind_(kind) {
    if (kind != Stdio::Pipe) return;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw InputOutputError("open a pipe", errno);
    OwnedDescriptor reader(ends[0]);
    OwnedDescriptor writer(ends[1]);
    if (number == STDIN_FILENO) std::swap(reader, writer);
    ours_ = std::move(reader);
    theirs_ = above_standard_streams(std::move(writer));
  }

  void prepare(ChildActions& actions) const {
    if (kind_ == Stdio::Pipe) actions.use(theirs_.get(), number_);
    if (kind_ == Stdio::Ignore) actions.use_nothing(number_);
  }

  [[nodiscard]] Ref<backend::StreamHandle> take_ours(Loop& loop) {
    if (kind_ != Stdio::Pipe) return {};
    const auto direction =
        number_ == STDIN_FILENO ? backend::Direction::Out : backend::Direction::In;
    return adopt_end_of_pipe(loop, ours_.release(), direction);
  }

 private:
  int number_;
  Stdio kind_;
  OwnedDescriptor ours_;
  OwnedDescriptor theirs_;
};

/// Returns 0 or an errno value.
int spawn_native(const ProcessOptions& options, const ChildActions& actions, int& pid) {
  TextTable arguments;
  arguments.add(options.program);
  for (const std::string& each : options.arguments) arguments.add(each);
  TextTable environment;
  if (options.environment) {
    for (const std::string& each : *options.environment) environment.add(each);
  }
  const ChildSignals signals;
  return ::posix_spawnp(&pid, options.program.c_str(), actions.get(), signals.get(),
                        arguments.get(), options.environment ? environment.get() : ::environ);
}

}  // namespace

// All that can fail on this side is done before there is a child.
Processes::Started Processes::start(const ProcessOptions& options) {
  ChildStream input(STDIN_FILENO, options.input);
  ChildStream output(STDOUT_FILENO, options.output);
  ChildStream errors(STDERR_FILENO, options.errors);
  ChildActions actions;
  if (!options.directory.empty()) actions.change_directory(options.directory);
  for (const ChildStream* each : {&input, &output, &errors}) each->prepare(actions);
  Started started{0, input.take_ours(loop_), output.take_ours(loop_), errors.take_ours(loop_)};
  if (const int code = spawn_native(options, actions, started.pid)) {
    throw InputOutputError(description_of(options), code);
  }
  FERMATA_ASSERT(started.pid > 0);
  return started;
}

std::optional<ProcessExit> Processes::collect(int pid) noexcept {
  FERMATA_ASSERT(pid > 0);
  int status = 0;
  pid_t found = 0;
  do {
    found = ::waitpid(pid, &status, WNOHANG);
  } while (found < 0 && errno == EINTR);
  if (found == 0) return std::nullopt;
  if (found < 0) return ProcessExit();
  FERMATA_ASSERT(found == pid);
  return WIFSIGNALED(status) ? ProcessExit::killed(WTERMSIG(status))
                             : ProcessExit::exited(WEXITSTATUS(status));
}

int Processes::send(int pid, int signum) {
  FERMATA_ASSERT(pid > 0);  // Others stand for groups of processes.
  return ::kill(pid, signum) == 0 ? 0 : errno;
}

}  // namespace fermata::uv::detail
