// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/runtime.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/debugger.hpp"
#include "fermata/core/spawn.hpp"

namespace fermata {

namespace detail {

void throw_no_runtime() {
  throw UsageError("no runtime is running on this thread: expected a call inside Runtime::run");
}

namespace {

/// Makes a runtime current for the duration of its run.
class Current {
 public:
  explicit Current(Runtime& runtime) noexcept
      : previous_(std::exchange(current_runtime_pointer, &runtime)) {}
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() { current_runtime_pointer = previous_; }

 private:
  Runtime* previous_;
};

}  // namespace
}  // namespace detail

Runtime::Runtime(std::unique_ptr<backend::Reactor> reactor, RuntimeOptions options)
    : options_(std::move(options)), reactor_(std::move(reactor)), scheduler_(*this) {
  FERMATA_REQUIRE(reactor_ != nullptr, "Runtime: expected a reactor, got null");
  if (options_.observer != nullptr) blocks_.fill_freed_blocks();
  detail::show_to_debuggers(*this);
}

Runtime::~Runtime() {
  detail::hide_from_debuggers(*this);
  if (kernel().live_events.empty()) return;
  std::fprintf(stderr, "fermata: events outlive runtime '%s', first: %s\n", options_.name.c_str(),
               kernel().live_events.first()->info_with_place().c_str());
  std::abort();
}

void Runtime::run_main(detail::FunctionRef<void()> body) {
  const detail::Current current(*this);
  const auto main =
      Ref<CoroutineBase>::adopt(detail::make_coroutine(*this, "main", SourcePlace{}, body));
  scheduler_.run(*main);
}

std::vector<std::exception_ptr> Runtime::exit_errors() const { return scheduler_.exit_errors(); }

std::string Runtime::dump() const {
  std::string text;
  for (const CoroutineBase* each = registry().first(); each != nullptr;
       each = each->next_registered()) {
    text += each->info() + "\n";
    for (const std::string& event : each->awaiting()) text += "  waits for " + event + "\n";
    if (const std::size_t used = scheduler_.stack_high_water(*each); used > 0) {
      text += fmt::format("  has used {} KiB of its stack\n", used / 1024);
    }
  }
  return text;
}

void Runtime::add_main_start_handler(std::shared_ptr<backend::SwitchHandler> handler) {
  auto& handlers = scheduler_.main_start_handlers();
  for (const auto& known : handlers) {
    if (known == handler) return;
  }
  handlers.push_back(std::move(handler));
}

void Runtime::add_shutdown_finalizer(std::function<void()> finalizer) {
  scheduler_.add_shutdown_finalizer(std::move(finalizer));
}

void Runtime::log(std::string_view text) const {
  if (options_.log) return options_.log(text);
  std::fprintf(stderr, "[%s] %.*s\n", options_.name.c_str(), static_cast<int>(text.size()),
               text.data());
}

void Runtime::fire_timers() {
  const Instant time = now();
  scheduler_.on_turn(time);
  const std::uint64_t armed_before = timers_.next_sequence();
  while (Timer* timer = timers_.pop_due(time, armed_before)) {
    FERMATA_ASSERT(!timer->is_closed());
    ++scheduler_.metrics().timers_fired;
    try {
      timer->fire();
    } catch (const backend::AbandonRun&) {
      throw;
    } catch (...) {
      report_unhandled(std::current_exception());
    }
  }
}

void Runtime::on_control_signal(int signum) {
  if (signum == options_.dump_signal) {
    log(fmt::format("{} coroutines\n{}", registry().size(), dump()));
  } else {
    scheduler_.on_stop_signal(signum);
  }
}

}  // namespace fermata
