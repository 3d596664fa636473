// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/process/processes.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/reactor/signal_name.hpp"
#include "fermata/sim/machine/descriptors.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/network.hpp"
#include "fermata/sim/net/streams.hpp"
#include "fermata/sim/process/program_table.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

namespace {

bool stops(int signum) noexcept {
  return signum == SIGSTOP || signum == SIGTSTP || signum == SIGTTIN || signum == SIGTTOU;
}

}  // namespace

backend::Processes::Started SimProcesses::start(const ProcessOptions& options) {
  const std::string& name = options.program;
  const std::uint64_t key = key_of(key_of(machine_.key(), "process"), name);
  const auto tell = [&](const Decision&) {
    return fmt::format("'{}' has no room for process '{}'", machine_.name(), name);
  };
  if (machine_.faults().strikes(Fault::SpawnFailure, backend::RandomStream::Fault, key, tell)) {
    throw InputOutputError(description_of(options), EAGAIN);
  }
  std::optional<ScriptedProgram> program = programs_.find(options);
  if (!program) throw InputOutputError(description_of(options), ENOENT);

  Started started{.pid = next_pid_++};
  ChildPipes pipes;
  const auto open = [&](Stdio kind, const char* what, std::shared_ptr<Connection>& pipe,
                        Ref<backend::StreamHandle>& ours, Connection::Side side) {
    if (kind != Stdio::Pipe) return;
    if (out_of_descriptors(machine_, backend::RandomStream::Network, "pipe")) {
      throw InputOutputError("open a pipe", EMFILE);
    }
    pipe = network_.make_local_connection(machine_, fmt::format("{} of '{}'", what, name));
    const auto direction =
        side == Connection::Client ? backend::Direction::Out : backend::Direction::In;
    ours = Ref<backend::StreamHandle>::adopt(
        *new SimStream(attachment_, network_, pipe, side, direction));
  };
  open(options.input, "input", pipes.input, started.input, Connection::Client);
  open(options.output, "output", pipes.output, started.output, Connection::Server);
  open(options.errors, "errors", pipes.errors, started.errors, Connection::Server);
  std::erase_if(children_, [](const auto& each) { return each.second->is_gone(); });
  const auto number = static_cast<std::uint64_t>(started.pid);
  auto child =
      std::make_unique<SimChild>(machine_, key_of(key, number), name, std::move(*program), pipes);
  const bool is_new = children_.emplace(started.pid, std::move(child)).second;
  FERMATA_ASSERT(is_new);
  note_call(fmt::format("starts process {} '{}'", started.pid, name));
  return started;
}

void SimProcesses::note_call(std::string text) {
  if (RunLog* const told = machine_.run_log()) told->called(machine_.name(), std::move(text));
}

SimChild* SimProcesses::find(int pid) const noexcept {
  const auto found = children_.find(pid);
  return found == children_.end() || found->second->is_reaped() ? nullptr : found->second.get();
}

std::optional<ProcessExit> SimProcesses::collect(int pid) noexcept {
  SimChild* const child = find(pid);
  return child != nullptr ? child->reap() : ProcessExit();
}

int SimProcesses::send(int pid, int signum) {
  SimChild* const child = find(pid);
  if (child == nullptr) return ESRCH;
  if (stops(signum)) throw Unsupported("stopping of processes", "sim");
  FERMATA_ASSERT(!child->is_reaped());
  if (signum != 0) {
    note_call(fmt::format("sends signal {} to process {}", backend::signal_name(signum), pid));
  }
  child->signal(signum);
  return 0;
}

}  // namespace fermata::sim::detail
