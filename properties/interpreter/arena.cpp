// SPDX-License-Identifier: Apache-2.0
#include "properties/interpreter/arena.hpp"

#include <memory>
#include <string_view>

namespace fermata::properties {

void ClockReactor::turn(backend::TurnMode mode, Instant wake_by) {
  if (mode == backend::TurnMode::Block) {
    if (wake_by == Instant::never()) {
      findings_.add("CORE-SC-10 (DL-): the loop waits forever though nothing can happen");
      throw backend::AbandonRun{};
    }
    if (wake_by > now_) set(wake_by);
  }
  runtime_->fire_timers();
}

void ClockReactor::set(Instant now) {
  now_ = now;
  runtime_->kernel().trace(backend::Trace::TimeAdvanced, nullptr,
                           static_cast<std::uint64_t>(now.nanoseconds));
}

void ClockReactor::advance(Duration span) {
  set(now_ + span);
  runtime_->scheduler().request_poll();
}

Arena::Arena()
    : clock_(new ClockReactor(findings_)),
      runtime_(std::unique_ptr<backend::Reactor>(clock_), options()) {}

RuntimeOptions Arena::options() {
  RuntimeOptions options;
  options.name = "arena";
  options.handle_stop_signals = false;
  options.log = [this](std::string_view text) { log_.append(text).append("\n"); };
  return options;
}

Arena::Ending Arena::run(backend::Chooser* chooser, backend::Observer& witness,
                         sim::WakeListener* wakes, const std::function<void()>& main) {
  findings_.forget();
  clock_->reset();
  log_.clear();
  runtime_.kernel().chooser = chooser;
  runtime_.kernel().observer = &witness;
  sim::detail::AuditOptions options;
  options.limits.steps = 200'000;
  options.limits.steps_at_instant = 100'000;
  options.allow_deadlock = true;
  options.wakes = wakes;
  audit_.begin_run(runtime_, options);
  runtime_.scheduler().reset();
  Ending ending;
  try {
    runtime_.run(main);
  } catch (const backend::AbandonRun&) {
    ending.cut = true;
  } catch (...) {
    ending.error = std::current_exception();
  }
  ending.log = log_;
  return ending;
}

}  // namespace fermata::properties
