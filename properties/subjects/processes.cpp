// SPDX-License-Identifier: Apache-2.0

// Children that perform scripts: the actors start them, talk to them, wait for them, kill and drop
// them, and run shell commands beside.

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/models/child_model.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/commands.hpp"
#include "properties/subjects/disk.hpp"
#include "properties/subjects/listed.hpp"
#include "properties/subjects/scripted.hpp"

namespace fermata::properties {
namespace {
namespace processes {

using models::ChildModel;
using std::chrono::seconds;

constexpr std::array<std::size_t, 5> kSizes = {1, 9, 300, 7'000, 80'000};
constexpr std::array<int, 4> kSignals = {0, SIGTERM, SIGKILL, SIGUSR1};
constexpr std::array kStreams = {ChildModel::kInput, ChildModel::kOutput, ChildModel::kErrors};

struct Child {
  Child(Process p, ChildModel m, bool terminate)
      : process(std::move(p)), model(std::move(m)), pid(process->pid()), terminates(terminate) {}

  std::optional<Process> process;  // Empty once it was dropped.
  ChildModel model;
  int pid;
  bool terminates;  // When it is dropped.
  Subscription subscription;
  unsigned told = 0;
  std::vector<std::size_t> waiters, writers;
  std::array<std::vector<std::size_t>, 3> readers;

  [[nodiscard]] PipeStream& stream(ChildModel::ChildStream which) {
    if (which == ChildModel::kInput) return process->input();
    return which == ChildModel::kOutput ? process->output() : process->errors();
  }
};

class ProcessesLaw final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {6, "start", does<&ProcessesLaw::start>},
        {10, "read", does<&ProcessesLaw::read_some>},
        {6, "write", does<&ProcessesLaw::write>},
        {2, "close", does<&ProcessesLaw::close_one>},
        {8, "wait", does<&ProcessesLaw::wait>},
        {3, "watch", does<&ProcessesLaw::watch>},
        {3, "kill", does<&ProcessesLaw::kill_one>},
        {1, "drop", does<&ProcessesLaw::drop_one>},
        {2, "wait for the signal", does<&ProcessesLaw::wait_for_signal>},
        {8, "command", does<&ProcessesLaw::run_command>},
    });
  }

  explicit ProcessesLaw(Stage& on) : Subject(on), commands_(on) {
    on.world().program("true", sim::ScriptedProgram());
    first_pid_ = start_true();
    delay(seconds(1));
    idle_activity_ = current_runtime().active_event_count();
  }

  /// A child; when there is none, one is started.
  template <class Use>
  void choose(const Cue& cue, Use use) {
    if (children_.empty()) return start(cue);
    const std::shared_ptr<Child> child =
        children_[(cue.actor + cue.number / 4u) % children_.size()];
    use(*child);
  }

  void at_rest() override {
    bool busy = !commands_.is_idle() || !signal_waiters_.empty();
    for (const std::size_t waiter : signal_waiters_) {
      if (stage.parked(waiter) && ends_ > ends_before_[waiter]) {
        stage.complain(
            "SIG-02 (WAKE): a child has ended, and its signal was not told to everybody");
      }
    }
    for (const auto& child : children_) {
      busy = busy || !child->waiters.empty() || !child->writers.empty();
      for (const std::size_t waiter : child->waiters) {
        if (stage.parked(waiter) && child->model.must_have_ended()) {
          stage.complain("PROC-01 (WAKE): somebody waits for a process that has ended");
        }
      }
      for (const ChildModel::ChildStream stream : {ChildModel::kOutput, ChildModel::kErrors}) {
        busy = busy || !child->readers[stream].empty();
        for (const std::size_t reader : child->readers[stream]) {
          if (stage.parked(reader)) stage.complain(why_read_should_end(child->model, stream));
        }
      }
      for (const std::size_t writer : child->writers) {
        if (stage.parked(writer)) stage.complain(why_write_should_end(child->model));
      }
    }
    if (!busy && current_runtime().active_event_count() != idle_activity_) {
      stage.complain("IO-15 (STOP): processes that nobody waits for count as activity");
    }
  }

  void let_go() override {
    is_ending = true;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      Child& child = *children_[i];
      if (i % 3 == 0) finish(child);
      if (i % 3 == 1) end(child);
      drop(child);
      if (child.terminates && child.waiters.empty()) continue;
      if (Process::watch(child.pid).kill(SIGKILL)) child.model.signalled(SIGKILL, now());
    }
    start_true();  // It is enough for everybody who waits for the signal.
  }

  void at_end() override {
    for (const auto& child : children_) {
      child->subscription.cancel();
      if (child->told > 1) stage.complain("PROC-01 (ONCE): an end was told more than once");
    }
    const int last = start_true();
    for (int pid = first_pid_; pid < last; ++pid) {
      if (Process::watch(pid).kill(0)) {
        stage.complain(fmt::format("EXE-03 (REF): process {} is left over", pid));
      }
    }
    if (current_runtime().reactor().processes().dying() > 0) {
      stage.complain("EXE-03 (REF): a process that was told to end was not reaped");
    }
    if (current_runtime().active_event_count() != idle_activity_) {
      stage.complain("EXE-03 (REF): activity is left over");
    }
  }

 private:
  [[nodiscard]] static std::size_t size_of(const Cue& cue) {
    return kSizes[(cue.actor + cue.number) % kSizes.size()];
  }

  void run_command(const Cue& cue) { commands_.run(cue); }

  // --- the beginning ---

  /// Returns the id of a child that ends at once.
  static int start_true() {
    return insist([] { return Process::spawn({.program = "true"}); }).pid();
  }

  void start(const Cue& cue) {
    const std::size_t id = ++starts_;
    const bool is_missing = (cue.actor + id) % 12 == 11;
    const std::string name = fmt::format("program {}", id);
    const sim::ScriptedProgram script =
        some_script(static_cast<Manner>((cue.actor + cue.number) % kManners), id + cue.number);
    if (!is_missing) stage.world().program(name, script);
    const std::array<bool, 3> pipes = {cue.number % 8 < 6, cue.number % 5 > 0, cue.number % 3 > 0};
    const Stdio no_pipe = cue.number % 2 == 0 ? Stdio::Ignore : Stdio::Inherit;
    const bool terminates = id % 3 == 0;
    const Instant now = fermata::now();
    const Causes::Beginning begun = stage.causes().begin();
    try {
      auto child = std::make_shared<Child>(
          Process::spawn({.program = name,
                          .input = pipes[0] ? Stdio::Pipe : Stdio::Ignore,
                          .output = pipes[1] ? Stdio::Pipe : no_pipe,
                          .errors = pipes[2] ? Stdio::Pipe : no_pipe,
                          .terminate_when_dropped = terminates}),
          ChildModel(model_of(script), pipes, static_cast<std::uint8_t>(id), now), terminates);
      if (is_missing) stage.complain("EXE-02 (ERR): a program was started that there is none of");
      child->subscription = subscribe(
          child->process->event(), [this, at = child.get()](Event& event, const Outcome&) {
            ++at->told;
            ++ends_;
            if (!event.is_closed())
              stage.complain("PROC-01 (STOP): told before the event is closed");
          });
      children_.push_back(std::move(child));
    } catch (const InputOutputError& error) {
      const bool missing = error.what() == fmt::format("spawn {}: No such file or directory", name);
      if (!is_missing || !missing) check_spawn_error(stage, name, error, begun);
    }
  }

  // --- what goes through the pipes ---

  void read_some(const Cue& cue, Child& child) {
    const ChildModel::ChildStream stream = kStreams[cue.number % 4 == 0 ? 2 : 1];
    read(cue.actor, child, stream, size_of(cue), cue.patience);
  }
  void read(std::size_t actor, Child& child, ChildModel::ChildStream stream, std::size_t size,
            const WaitOptions& options) {
    if (!child.process || !child.model.is_open(stream) || child.model.at_end(stream)) return;
    const Listed listed(child.readers[stream], actor);
    std::vector<std::byte> buffer(size);
    try {
      const std::size_t count = child.stream(stream).read(buffer, options);
      stage.complain(count > 0 ? child.model.received(stream, std::span(buffer).first(count))
                               : child.model.end_reached(stream));
    } catch (const InputOutputError& error) {
      if (child.model.is_open(stream)) {
        stage.complain(fmt::format("ERR: a read of a child's output says {}", error.what()));
      }
    }
  }

  void write(const Cue& cue, Child& child) {
    if (!child.process || !child.model.is_open(ChildModel::kInput)) return;
    const Listed listed(child.writers, cue.actor);
    const models::ByteWayModel::Write write =
        child.model.input.begin(size_of(cue), has_fired(cue.patience.token));
    const std::vector<std::byte> bytes = child.model.input.bytes_of(write);
    try {
      child.stream(ChildModel::kInput).write(std::span(bytes), cue.patience);
    } catch (const InputOutputError& error) {
      if (!write.doomed) child.model.input.refused();
      const bool has_gone = child.model.is_open(ChildModel::kInput) && error.code() == EPIPE &&
                            child.model.may_have_ended(now());
      if (!write.doomed && child.model.is_open(ChildModel::kInput) && !has_gone) {
        stage.complain(fmt::format("ERR: a write to a child that runs says {}", error.what()));
      }
      return;
    }
    stage.complain(child.model.input.accepted(write, bytes.size()));
  }

  void close_one(const Cue& cue, Child& child) { close(child, kStreams[cue.number % 3]); }
  void close(Child& child, ChildModel::ChildStream stream) {
    if (!child.process || !child.model.is_open(stream)) return;
    child.model.closed(stream);
    child.stream(stream).close();
    const auto& users = stream == ChildModel::kInput ? child.writers : child.readers[stream];
    for (const std::size_t user : users) {
      if (stage.parked(user)) stage.complain("IO-06 (WAKE): closing left somebody asleep");
    }
  }

  // --- the end ---

  void wait(const Cue& cue, Child& child) {
    if (!child.process) return;
    const bool had_ended = child.process->is_ended();
    const Listed listed(child.waiters, cue.actor);
    try {
      told(child, child.process->wait(cue.patience));
    } catch (const Timeout&) {
      if (had_ended) stage.complain("PROC-01 (WAKE): a process has ended, and a wait timed out");
      throw;
    }
    if (!child.process) return;
    if (child.process->result().code() != child.model.end()) {
      stage.complain("PROC-03 (VAL): somebody was told an end that the process does not know");
    }
    if (child.told != 1) stage.complain("PROC-01 (ONCE): an end was told, and not to everybody");
  }

  void watch(const Cue& cue, Child& child) {
    const bool had_ended = child.process && child.process->is_ended();
    Process same = Process::watch(child.pid);
    const bool one_event = child.process && &same.event() == &child.process->event();
    if (child.process && one_event == had_ended) {
      stage.complain(
          "PROC-03 (REF): a process that runs has one event, and one that has ended none");
    }
    const Listed listed(child.waiters, cue.actor);
    const ProcessExit exit = same.wait(cue.patience);
    if (had_ended && exit.is_known()) {
      stage.complain("PROC-02 (VAL): the end of a process that was reaped is known again");
    }
    if (exit.is_known() || one_event) told(child, exit);
  }

  void wait_for_signal(const Cue& cue) {
    if (children_.empty()) return start(cue);
    const Listed listed(signal_waiters_, cue.actor);
    ends_before_[cue.actor] = ends_;
    wait_signal(SIGCHLD, cue.patience);
  }

  void told(Child& child, const ProcessExit& exit) {
    stage.complain(child.model.ended(exit.code(), now()));
  }

  void kill_one(const Cue& cue, Child& child) {
    kill(child, kSignals[cue.number % kSignals.size()]);
  }
  void kill(Child& child, int signum) {
    if (!child.process) return;
    const bool had_ended = child.process->is_ended();
    if (child.process->kill(signum) == had_ended) {
      stage.complain("PROC-01 (VAL): a signal went to a process that has ended, or to nobody");
    }
    if (!had_ended) child.model.signalled(signum, now());
  }

  void drop_one(const Cue&, Child& child) { drop(child); }
  void drop(Child& child) {
    if (!child.process) return;
    child.model.dropped(child.terminates);
    child.process.reset();
  }

  /// Everything is read, and it ends by itself if it can.
  void finish(Child& child) {
    close(child, ChildModel::kInput);
    if (child.model.lasts_for_ever()) kill(child, SIGTERM);
    std::vector<Coroutine<>> readers;
    for (const ChildModel::ChildStream stream : {ChildModel::kOutput, ChildModel::kErrors}) {
      readers.push_back(spawn("drain", [this, &child, stream] {
        while (child.process && child.model.is_open(stream) && !child.model.at_end(stream)) {
          read(stage.actor_count(), child, stream, 30'000, {});
        }
      }));
    }
    for (const auto& reader : readers) await(reader);
    end(child);
  }

  /// It is killed unless it ends soon.
  void end(Child& child) {
    if (!child.process) return;
    try {
      told(child, child.process->wait({.timeout = seconds(2)}));
    } catch (const Timeout&) {
      if (child.model.must_have_ended()) stage.complain("PROC-01 (WAKE): no end is told");
      kill(child, SIGKILL);
      told(child, child.process->wait());
    }
  }

  // --- what must be ---

  [[nodiscard]] static models::Complaint why_read_should_end(const ChildModel& child,
                                                             ChildModel::ChildStream stream) {
    if (!child.is_open(stream)) return "IO-06 (WAKE): a reader sleeps at a closed stream";
    if (child.at_end(stream)) return "IO-04 (WAKE): a reader sleeps at the end of the stream";
    if (child.must_have_ended()) return "IO-04 (WAKE): a child has ended, and not its output";
    if (child.script.copies_input && stream == ChildModel::kOutput && child.has_more(stream)) {
      return "EXE-01 (WAKE): a reader sleeps, and a child has something to tell";
    }
    return {};
  }

  [[nodiscard]] static models::Complaint why_write_should_end(const ChildModel& child) {
    if (!child.is_open(ChildModel::kInput)) return "IO-06 (WAKE): a writer sleeps at a closed pipe";
    if (child.must_have_ended()) return "IO-06 (WAKE): a writer sleeps, and its reader has ended";
    if (child.script.copies_input && child.input.outstanding() <= ChildModel::kPipe) {
      return "IO-03 (WAKE): a writer sleeps beside room";
    }
    return {};
  }

  Commands commands_;
  std::vector<std::shared_ptr<Child>> children_;
  std::vector<std::size_t> signal_waiters_;
  std::map<std::size_t, std::size_t> ends_before_;  // Each of them waited.
  std::size_t starts_ = 0;
  std::size_t ends_ = 0;
  int first_pid_ = 0;
  std::size_t idle_activity_ = 0;
};

}  // namespace processes
}  // namespace

constinit const Law kProcesses = {
    "processes",
    "a child's output comes whole and in order, its end is told once, and nothing of it is left",
    {"G-05", "PROC-01", "PROC-03", "EXE-01", "EXE-02", "EXE-03", "EXE-05"},
    &scripts_over<processes::ProcessesLaw>};

}  // namespace fermata::properties
