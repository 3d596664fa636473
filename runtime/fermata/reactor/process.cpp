// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/process.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/wait_facts.hpp"
#include "fermata/reactor/processes.hpp"

namespace fermata {

std::string ProcessExit::text() const {
  switch (how_) {
    case How::Exited:
      return fmt::format("exit code {}", value_);
    case How::Killed:
      return fmt::format("killed by signal {}", value_);
    case How::Unknown:
      break;
  }
  return "an unknown exit status";
}

}  // namespace fermata

namespace fermata::backend {

ProcessHandle::ProcessHandle(Processes& processes, int pid, Origin origin, bool terminate)
    : Handle(processes.attachment_, EventKind::Process),
      processes_(processes),
      pid_(pid),
      origin_(origin),
      terminate_(terminate) {}

bool ProcessHandle::kill(int signum) {
  if (signum < 0 || signum >= NSIG) {
    throw UsageError(
        fmt::format("kill process {}: signal {}: expected 0 to {}", pid_, signum, NSIG - 1));
  }
  if (is_closed()) return false;
  const int code = processes_.send(pid_, signum);
  if (code == ESRCH) return false;
  if (code != 0) throw InputOutputError(fmt::format("kill process {}", pid_), code);
  return true;
}

void ProcessHandle::arm() {
  FERMATA_ASSERT(!ended_);
  processes_.expect_ends();
  waited_for_ = true;
  processes_.ask_after(*this);
}

void ProcessHandle::disarm() noexcept {
  waited_for_ = false;
  processes_.update_expectation();
}

// Who holds no reference is not parked on it.
void ProcessHandle::fail_parked() {
  FERMATA_ASSERT(is_closed());
  if (ended_ || ref_count() == 1) return;
  outcome_.error = std::make_exception_ptr(InputOutputError("Process was closed"));
  notify(outcome_);
}

void ProcessHandle::close_backend() noexcept {
  FERMATA_ASSERT(is_closed());
  processes_.drop(*this);
  close_acknowledged();
}

void ProcessHandle::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  facts.is("process", program_.empty() ? fmt::to_string(pid_) : program_, made_at());
  facts.outside("the process");
  const auto tell = [&](const std::optional<EventRef>& pipe, const char* how) {
    const Event* const stream = pipe ? pipe->get() : nullptr;
    if (stream != nullptr && !stream->is_closed()) facts.through(*stream, how);
  };
  tell(input_, "its input is with");
  tell(output_, "its output is with");
  tell(errors_, "its errors are with");
}

std::string ProcessHandle::info() const { return fmt::format("{} (pid={})", Handle::info(), pid_); }

}  // namespace fermata::backend
