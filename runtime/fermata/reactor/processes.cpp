// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <string_view>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/reactor/signal.hpp"

namespace fermata::backend {

namespace {

void require_no_nul(const ProcessOptions& options, const char* what, std::string_view text) {
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos) {
    throw UsageError(fmt::format("spawn {}: {} '{}': expected no NUL, there is one at {}",
                                 options.program, what, text.substr(0, at), at));
  }
}

void require_valid(const ProcessOptions& options) {
  FERMATA_REQUIRE(!options.program.empty(), "spawn: expected the name of a program");
  require_no_nul(options, "program", options.program);
  require_no_nul(options, "directory", options.directory);
  for (const std::string& each : options.arguments) require_no_nul(options, "argument", each);
  if (!options.environment) return;
  for (const std::string& each : *options.environment) {
    require_no_nul(options, "environment", each);
    if (each.find('=') == std::string::npos || each.front() == '=') {
      throw UsageError(
          fmt::format("spawn {}: environment '{}': expected NAME=value", options.program, each));
    }
  }
}

}  // namespace

Processes::Processes(detail::Attachment& attachment) noexcept : attachment_(attachment) {}

Processes::~Processes() = default;

Processes::Spawned Processes::spawn(const ProcessOptions& options) {
  require_valid(options);
  expect_ends();
  try {
    Started started = start(options);
    FERMATA_ASSERT(started.pid > 0);
    auto process = Ref<ProcessHandle>::adopt(*new ProcessHandle(
        *this, started.pid, ProcessHandle::Origin::StartedHere, options.terminate_when_dropped));
    process->program_ = options.program;
    if (started.input) process->input_.emplace(*started.input);
    if (started.output) process->output_.emplace(*started.output);
    if (started.errors) process->errors_.emplace(*started.errors);
    open_.insert_or_assign(started.pid, process.get());
    return {std::move(process), std::move(started.input), std::move(started.output),
            std::move(started.errors)};
  } catch (...) {
    update_expectation();
    throw;
  }
}

std::string Processes::description_of(const ProcessOptions& options) {
  if (options.directory.empty()) return "spawn " + options.program;
  return fmt::format("spawn {} in {}", options.program, options.directory);
}

Ref<ProcessHandle> Processes::watch(int pid) {
  if (pid <= 0) throw UsageError(fmt::format("process {}: expected an id of more than 0", pid));
  if (const auto found = open_.find(pid); found != open_.end()) {
    return Ref<ProcessHandle>::share(*found->second);
  }
  auto process = Ref<ProcessHandle>::adopt(
      *new ProcessHandle(*this, pid, ProcessHandle::Origin::StartedElsewhere, false));
  open_.emplace(pid, process.get());
  return process;
}

void Processes::expect_ends() {
  if (child_signal_ == nullptr) {
    auto& signals = attachment_.runtime().reactor().signals();
    child_signal_ = std::make_unique<SignalEvent>(signals, SIGCHLD);
    child_signal_->set_hidden(true);
    subscription_ = subscribe(*child_signal_, [this](Event&, const Outcome&) { look(); });
  }
  if (child_signal_->loop_ref_count() == 0) child_signal_->start();
  FERMATA_ASSERT(child_signal_->loop_ref_count() > 0);
}

void Processes::update_expectation() noexcept {
  if (child_signal_ == nullptr || !orphans_.empty()) return;
  const bool expected = std::any_of(open_.begin(), open_.end(),
                                    [](const auto& each) { return each.second->is_tracked(); });
  if (!expected) child_signal_->stop();
}

void Processes::look() noexcept {
  std::vector<Ref<ProcessHandle>> tracked;
  for (const auto& [pid, process] : open_) {
    if (process->is_tracked()) tracked.push_back(Ref<ProcessHandle>::share(*process));
  }
  for (const auto& process : tracked) ask_after(*process);
  std::erase_if(orphans_, [this](const Orphan& each) { return collect(each.pid).has_value(); });
  update_expectation();
}

void Processes::ask_after(ProcessHandle& process) noexcept {
  if (process.is_closed() || !process.is_tracked()) return;
  FERMATA_ASSERT(!process.ended_);
  const std::optional<ProcessExit> exit = collect(process.pid_);
  if (!exit) return;
  forget(process);
  process.ended_ = true;
  process.exit_ = *exit;
  process.outcome_.result = &process.exit_;
  try {
    process.notify_and_close(process.outcome_);
  } catch (...) {
    attachment_.runtime().report_unhandled(std::current_exception());
  }
}

// The system gives an id again: the table may know a younger process by it.
void Processes::forget(const ProcessHandle& process) noexcept {
  const auto found = open_.find(process.pid_);
  if (found != open_.end() && found->second == &process) open_.erase(found);
}

void Processes::drop(ProcessHandle& process) noexcept {
  FERMATA_ASSERT(process.is_closed());
  if (!process.ended_) {
    forget(process);
    if (process.origin_ == ProcessHandle::Origin::StartedHere) {
      if (process.terminate_) send(process.pid_, SIGTERM);
      orphans_.push_back({process.pid_, process.terminate_});
    }
  }
  update_expectation();
}

void Processes::kill_terminated() noexcept {
  FERMATA_ASSERT(open_.empty());
  for (const Orphan& each : orphans_) {
    if (each.terminated) send(each.pid, SIGKILL);
  }
}

std::size_t Processes::dying() const noexcept {
  return static_cast<std::size_t>(std::count_if(
      orphans_.begin(), orphans_.end(), [](const Orphan& each) { return each.terminated; }));
}

void Processes::end_run() noexcept {
  subscription_.cancel();
  child_signal_.reset();
}

}  // namespace fermata::backend
