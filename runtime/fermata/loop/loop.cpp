// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/context.hpp"
#include "fermata/loop/machine.hpp"

namespace fermata::loop {

namespace {

using detail::Machine;
using detail::Source;

/// The loops of a runtime, oldest first, as a value of its root scope.
const ContextKey<std::vector<Loop*>>& loops_key() {
  static const auto* const key = new ContextKey<std::vector<Loop*>>("event loops");
  return *key;
}

std::vector<Loop*> loops_of(Runtime& runtime) {
  const auto* const loops = runtime.root_scope().context().find_local(loops_key());
  return loops != nullptr ? *loops : std::vector<Loop*>();
}

void set_loops(Runtime& runtime, std::vector<Loop*> loops) {
  runtime.root_scope().context().set(loops_key(), std::move(loops), true);
}

void require_function(bool present, const char* operation) {
  if (!present) throw UsageError(fmt::format("{}: expected a function, got none", operation));
}

}  // namespace

// --- KeepAlive ---

KeepAlive::KeepAlive(const std::shared_ptr<detail::Machine>& machine) noexcept : machine_(machine) {
  machine->hold();
}

KeepAlive& KeepAlive::operator=(KeepAlive&& from) noexcept {
  std::swap(machine_, from.machine_);
  return *this;
}

KeepAlive::~KeepAlive() { release(); }

void KeepAlive::release() noexcept {
  if (const auto machine = std::exchange(machine_, {}).lock()) machine->let_go();
}

// --- Loop ---

Loop::Loop(LoopOptions options)
    : machine_(std::make_shared<detail::Machine>(current_runtime(), options)) {
  std::vector<Loop*> loops = loops_of(runtime());
  loops.push_back(this);
  set_loops(runtime(), std::move(loops));
  machine_->listen();
}

Loop::~Loop() {
  std::vector<Loop*> loops = loops_of(runtime());
  std::erase(loops, this);
  set_loops(runtime(), std::move(loops));
  const bool orderly = std::uncaught_exceptions() == 0 && !runtime().scheduler().is_shutting_down();
  if (runtime().kernel().observer != nullptr && orderly && machine_->report().suspended > 0) {
    runtime().report_unhandled(std::make_exception_ptr(UsageError(
        fmt::format("the event loop ends with {} suspended callbacks: {}",
                    machine_->report().suspended, fmt::join(machine_->suspended_texts(), "; ")))));
  }
  machine_->close();
}

Loop& Loop::current() {
  const std::vector<Loop*> loops = loops_of(current_runtime());
  FERMATA_REQUIRE(!loops.empty(), "this runtime has no event loop");
  if (loops.size() == 1) return *loops.front();
  const auto running = std::find_if(loops.rbegin(), loops.rend(),
                                    [](const Loop* loop) { return loop->machine_->in_callback(); });
  return running != loops.rend() ? **running : *loops.back();
}

void Loop::queue(Task task) {
  require_function(static_cast<bool>(task), "queue");
  machine_->queue({std::move(task), nullptr});
}

void Loop::post(Task task) {
  require_function(static_cast<bool>(task), "post");
  machine_->post(std::move(task));
}

CallbackId Loop::defer(TimedFunction function, SourcePlace place) {
  require_function(static_cast<bool>(function), "defer");
  return machine_->add_plain(CallbackKind::Defer, std::move(function), place);
}

CallbackId Loop::delay(TimeSpan span, TimedFunction function, SourcePlace place) {
  require_function(static_cast<bool>(function), "delay");
  return machine_->add_timer(CallbackKind::Delay, span.value(), std::move(function), place);
}

CallbackId Loop::repeat(TimeSpan interval, TimedFunction function, SourcePlace place) {
  require_function(static_cast<bool>(function), "repeat");
  return machine_->add_timer(CallbackKind::Repeat, interval.value(), std::move(function), place);
}

CallbackId Loop::on_readable(int descriptor, SourceFunction function, SourcePlace place) {
  require_function(static_cast<bool>(function), "on_readable");
  return machine_->add_poll(CallbackKind::Readable, descriptor, std::move(function), place);
}

CallbackId Loop::on_writable(int descriptor, SourceFunction function, SourcePlace place) {
  require_function(static_cast<bool>(function), "on_writable");
  return machine_->add_poll(CallbackKind::Writable, descriptor, std::move(function), place);
}

CallbackId Loop::on_signal(int signum, SourceFunction function, SourcePlace place) {
  require_function(static_cast<bool>(function), "on_signal");
  return machine_->add_signal(signum, std::move(function), place);
}

std::size_t Loop::signal_count(CallbackId id) const {
  return machine_->require(id, "signal_count").count;
}

CallbackId Loop::on_notice(TimedFunction function, SourcePlace place) {
  require_function(static_cast<bool>(function), "on_notice");
  return machine_->add_plain(CallbackKind::Notice, std::move(function), place);
}

void Loop::notice(CallbackId id) { machine_->notice(id); }

void Loop::enable(CallbackId id) { machine_->enable(id); }

void Loop::disable(CallbackId id) { machine_->disable(id); }

bool Loop::cancel(CallbackId id, SourcePlace place) {
  Source* const source = machine_->find(id);
  if (source == nullptr) return false;
  machine_->cancel(*source, place);
  return true;
}

bool Loop::cancel_timer(CallbackId id, SourcePlace place) {
  Source* const source = machine_->find(id);
  if (source == nullptr || !source->is_timed()) return false;
  machine_->cancel(*source, place);
  return true;
}

void Loop::cancel_timers(SourcePlace place) { machine_->cancel_timers(place); }

void Loop::reference(CallbackId id) {
  machine_->set_referenced(machine_->require(id, "reference"), true);
}

void Loop::unreference(CallbackId id) {
  if (Source* const source = machine_->find(id)) machine_->set_referenced(*source, false);
}

KeepAlive Loop::keep_alive() { return KeepAlive(machine_); }

bool Loop::has(CallbackId id) const noexcept { return machine_->find(id) != nullptr; }

bool Loop::is_enabled(CallbackId id) const { return machine_->require(id, "is_enabled").enabled; }

bool Loop::is_referenced(CallbackId id) const {
  return machine_->require(id, "is_referenced").referenced;
}

CallbackKind Loop::kind(CallbackId id) const { return machine_->require(id, "kind").kind; }

CallbackInfo Loop::info(CallbackId id) const { return machine_->require(id, "info").info(); }

std::size_t Loop::timer_count() const noexcept { return machine_->timer_count(); }

std::vector<CallbackId> Loop::identifiers() const {
  std::vector<CallbackId> ids;
  for (const Source* source = machine_->sources().first(); source != nullptr;
       source = Source::All::after(*source)) {
    ids.push_back(source->id);
  }
  return ids;
}

std::vector<std::string> Loop::kept_alive_by() const {
  std::vector<std::string> lines;
  for (const Source* source = machine_->sources().first(); source != nullptr;
       source = Source::All::after(*source)) {
    if (source->enabled && source->referenced) lines.push_back(source->info().text());
  }
  return lines;
}

std::vector<std::string> Loop::suspended() const { return machine_->suspended_texts(); }

Runtime& Loop::runtime() const noexcept { return machine_->runtime; }

RunReport Loop::run(SourcePlace place) {
  if (machine_->options.hosted) throw LoopIsHosted("run: the event loop's host runs it");
  if (is_running()) throw AlreadyRunning("run: the event loop is running already");
  const auto machine = machine_;
  machine->enter(nullptr, false, place);
  if (const std::exception_ptr error = machine->take_error()) std::rethrow_exception(error);
  return machine->report();
}

RunReport Loop::serve(const std::function<void()>& on_idle, SourcePlace place) {
  if (is_running()) throw AlreadyRunning("serve: the event loop is running already");
  const auto machine = machine_;
  machine->on_idle = on_idle;
  machine->enter(nullptr, true, place);
  if (const std::exception_ptr error = machine->take_error()) std::rethrow_exception(error);
  return machine->report();
}

void Loop::stop() noexcept { machine_->stop(); }

bool Loop::is_running() const noexcept { return machine_->is_running(); }

Suspension Loop::suspension() { return Suspension(machine_->fiber()); }

void Loop::add(detail::Member& member) noexcept { machine_->members.push_back(member); }

void Loop::remove(detail::Member& member) noexcept { machine_->members.remove(member); }

void Loop::set_error_handler(ErrorHandler handler) { machine_->error_handler = std::move(handler); }

const Loop::ErrorHandler& Loop::error_handler() const noexcept { return machine_->error_handler; }

}  // namespace fermata::loop
