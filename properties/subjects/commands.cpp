// SPDX-License-Identifier: Apache-2.0
#include "properties/subjects/commands.hpp"

#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "properties/models/text_model.hpp"
#include "properties/subjects/listed.hpp"
#include "properties/subjects/scripted.hpp"

namespace fermata::properties {
namespace {

using std::chrono::milliseconds;

/// More than timers and ends are late by.
constexpr Duration kClearly = milliseconds(1'500);

}  // namespace

void check_spawn_error(Stage& stage, const std::string& program, const InputOutputError& error,
                       const Causes::Beginning& begun) {
  const std::string_view text = error.what();
  const bool no_room = error.code() == EAGAIN &&
                       text == fmt::format("spawn {}: Resource temporarily unavailable", program) &&
                       stage.causes().explain(sim::Fault::SpawnFailure, begun);
  const bool no_pipe =
      error.code() == EMFILE && stage.causes().explain(sim::Fault::OutOfDescriptors, begun);
  if (!no_room && !no_pipe) {
    stage.complain(fmt::format("EXE-02 (ERR): a program does not start: {}", text));
  }
}

void Commands::run(const Cue& cue) {
  const std::uint64_t id = ++count_;
  constexpr std::array<Duration, 3> kGraces = {milliseconds(0), milliseconds(20),
                                               milliseconds(1'000)};
  Outcome outcome{.command = fmt::format("command {}", id),
                  .way = static_cast<Way>((cue.actor + id) % kWays),
                  .how = {.capture_errors = cue.number % 2 == 0, .grace = kGraces[id % 3]}};
  const models::ScriptModel script =
      add(outcome.command, (cue.actor + cue.number) % (kManners + 1));
  const bool sink_fails = id % 5 == 0;
  const OutputSink sink = [&](std::string_view piece) {
    if (sink_fails) throw PlannedError(static_cast<std::uint32_t>(id));
    if (id % 3 == 0) suspend();
    outcome.sunk += piece;
  };
  WaitOptions options = cue.patience;
  if (script.takes >= models::ChildModel::kForEver && !options.timeout) {
    options.timeout = milliseconds(20);
  }
  const Counted counted(running_);
  const Causes::Beginning begun = stage_.causes().begin();
  try {
    outcome.result = execute(outcome, sink, options);
  } catch (const PlannedError& error) {
    if (!sink_fails || error.number != id) stage_.complain("ERR: another sink's error came out");
    return;
  } catch (const InputOutputError& error) {
    return check_spawn_error(stage_, "/bin/sh", error, begun);
  }
  check(script, outcome);
}

models::ScriptModel Commands::add(const std::string& name, std::size_t manner) {
  if (manner == kManners) {
    return {.errors = "sh: 1: " + name + ": not found\n", .end = 127};
  }
  const sim::ScriptedProgram script = some_script(static_cast<Manner>(manner), count_);
  stage_.world().program(name, script);
  return model_of(script);
}

ExecResult Commands::execute(Outcome& outcome, const OutputSink& sink, const WaitOptions& options) {
  const ExecOptions& how = outcome.how;
  switch (outcome.way) {
    case kLast:
      return exec(outcome.command, how, options);
    case kLines:
      return exec_lines(outcome.command, outcome.lines, how, options);
    case kSystem:
      return exec_tee(outcome.command, sink, how, options);
    case kPassthru:
      return exec_to(outcome.command, sink, how, options);
    case kAll:
      break;
  }
  return exec_output(outcome.command, how, options);
}

void Commands::check(const models::ScriptModel& script, const Outcome& outcome) {
  check_end(script, outcome);
  check_text(script, outcome);
  const std::string& errors = outcome.how.capture_errors ? script.errors : std::string();
  if (outcome.result.errors != errors) {
    stage_.complain("EXE-01 (VAL): a command's complaints are not what it wrote");
  }
}

void Commands::check_end(const models::ScriptModel& script, const Outcome& outcome) {
  if (outcome.result.exit.code() != script.end) {
    stage_.complain(fmt::format("EXE-02 (VAL): a command's end is {}, expected {}",
                                outcome.result.exit.code(), script.end));
  }
  const Duration grace = outcome.how.grace;
  const bool may_be_cut_off = script.lateness > Duration::zero() && script.lateness >= grace;
  if (outcome.result.cut_off && !may_be_cut_off) {
    stage_.complain("EXE-01 (VAL): a command's output was cut off in its grace");
  }
  if (!outcome.result.cut_off && script.lateness > grace + kClearly) {
    stage_.complain("EXE-01 (TIME): a command's output was waited for beyond its grace");
  }
}

// Who is cut off may have got a part of what came late: it is not waited for, but not thrown away.
void Commands::check_text(const models::ScriptModel& script, const Outcome& outcome) {
  std::size_t late = outcome.result.cut_off ? 0 : script.late.size();
  while (late < script.late.size() &&
         !is_text(script.output + script.late.substr(0, late), outcome)) {
    ++late;
  }
  if (is_text(script.output + script.late.substr(0, late), outcome)) return;
  stage_.complain(fmt::format(
      "EXE-01, EXE-05 (VAL): a command's output is not what it wrote: {:?}, lines {}, sunk {:?}, "
      "expected {:?}{}",
      outcome.result.text, outcome.lines, outcome.sunk, script.output + script.late,
      outcome.result.cut_off ? ", or a beginning of it" : ""));
}

bool Commands::is_text(const std::string& output, const Outcome& outcome) {
  const std::vector<std::string> lines = models::lines_of(output);
  const std::string last = lines.empty() ? std::string() : lines.back();
  switch (outcome.way) {
    case kLast:
      return outcome.result.text == last;
    case kLines: {
      std::vector<std::string> expected = {"before"};
      expected.insert(expected.end(), lines.begin(), lines.end());
      return outcome.lines == expected && outcome.result.text == last;
    }
    case kSystem:
      return outcome.sunk == output && outcome.result.text == last;
    case kPassthru:
      return outcome.sunk == output && outcome.result.text.empty();
    case kAll:
      break;
  }
  return outcome.result.text == output;
}

}  // namespace fermata::properties
