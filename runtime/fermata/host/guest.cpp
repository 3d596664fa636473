// SPDX-License-Identifier: Apache-2.0
#include "fermata/host/guest.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/os/clock.hpp"
#include "fermata/poll/reactor.hpp"
#include "fermata/reactor/trigger.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::host {

namespace {

std::uint64_t this_thread() noexcept {
  return static_cast<std::uint64_t>(os::kernel.pthread_self());
}

}  // namespace

Guest::Guest(std::string_view name, GuestOptions&& options)
    : options_(std::move(options)), host_name_(name), thread_(this_thread()) {
  options_.runtime.handle_stop_signals = options_.handle_stop_signals;
  auto backend =
      std::make_unique<detail::HostingBackend>(host_name_, static_cast<detail::Gate&>(*this));
  backend_ = backend.get();
  runtime_ = std::make_unique<Runtime>(poll::make_reactor(std::move(backend)), options_.runtime);
  stack_ = std::make_unique<detail::SideStack>(
      options_.runtime.stacks, [](void* guest) noexcept { static_cast<Guest*>(guest)->run(); },
      this);
  do {
    resume();
  } while (!waits_ && !is_ended());  // Idle at first, however short its turns are.
  if (is_ended()) std::rethrow_exception(error_);
}

Guest::~Guest() { end(); }

// --- the run, inside ---

void Guest::run() noexcept {
  try {
    runtime_->run([this] { stay(); });
  } catch (...) {
    error_ = std::current_exception();
  }
}

// The main coroutine: there for as long as the guest is, and the one activity of an idle one.
void Guest::stay() {
  FERMATA_ASSERT(!stays_);
  stays_ = true;
  const Ref<backend::TriggerHandle> never = runtime_->reactor().triggers().make();
  never->set_name("the end of the guest");
  static constexpr SourcePlace kNowhere{};
  try {
    runtime_->scheduler().wait_for(*never, kNowhere);
  } catch (const Cancellation&) {
  }
  stays_ = false;
}

bool Guest::turn_is_over() const noexcept { return os::now() >= turn_ends_; }

void Guest::leave(bool waits) noexcept {
  FERMATA_ASSERT(inside());
  waits_ = waits;
  const bool running = runtime_->is_running();
  stack_->leave(running ? *runtime_->scheduler().running_context() : stack_->own());
}

// --- turns, outside ---

void Guest::resume() {
  FERMATA_ASSERT(!inside() && !is_ended());
  turn_ends_ = os::now() + options_.turn_limit;
  waits_ = false;
  Runtime* const outside = std::exchange(fermata::detail::current_runtime_pointer, current_);
  stack_->enter();
  current_ = std::exchange(fermata::detail::current_runtime_pointer, outside);
}

void Guest::pump() {
  require_outside("pump");
  if (is_ended()) return;
  resume();
  tell();
}

// What a turn has changed that others want to know.
void Guest::tell() {
  FERMATA_ASSERT(!inside());
  const bool was_idle = idle_;
  const bool shutting_down = !is_ended() && runtime_->scheduler().is_shutting_down();
  idle_ = is_ended() || (waits_ && !shutting_down && runtime_->active_event_count() == 1);
  if (keeps_host_ == idle_) {
    keeps_host_ = !idle_;
    keep_host(keeps_host_);
  }
  if (is_ended()) {
    backend_->fall_silent();
    if (std::exchange(told_of_end_, true) || !options_.on_end) return;
    try {
      options_.on_end(error_);
    } catch (...) {
      runtime_->log("on_end of a guest has thrown " + describe(std::current_exception()));
    }
  } else if (idle_ && !was_idle && options_.on_idle) {
    try {
      options_.on_idle();
    } catch (...) {
      const Call call(*this, "on_idle");
      runtime_->report_unhandled(std::current_exception());
    }
  }
}

void Guest::require_thread(const char* operation) const {
  if (this_thread() == thread_) return;
  throw UsageError(fmt::format("{}: guest '{}' lives on the thread that made it, this is another",
                               operation, runtime_->name()));
}

void Guest::require_outside(const char* operation) const {
  require_thread(operation);
  if (!inside()) return;
  throw UsageError(fmt::format("{}: called by guest '{}' itself, expected its host", operation,
                               runtime_->name()));
}

// --- calls of the host's code ---

Guest::Call::Call(Guest& guest, const char* operation) : guest_(guest) {
  guest.require_thread(operation);
  if (guest.is_ended()) {
    throw UsageError(fmt::format("{}: guest '{}' has ended", operation, guest.runtime_->name()));
  }
  outside_ = std::exchange(fermata::detail::current_runtime_pointer, guest.runtime_.get());
}

Guest::Call::~Call() {
  fermata::detail::current_runtime_pointer = outside_;
  if (guest_.inside()) return;
  guest_.backend_->ask_for_turn();
  guest_.idle_ = false;
  if (!std::exchange(guest_.keeps_host_, true)) guest_.keep_host(true);
}

void Guest::close() {
  if (is_ended()) return;
  const Call call(*this, "close");
  runtime_->shutdown();
}

void Guest::visit(const std::function<void()>& body) {
  require_outside("enter");
  bool done = false;
  std::exception_ptr error;
  const auto guarded = [&, this] {
    std::optional<fermata::detail::NoSuspend> guard;
    if (!can_turn_host()) guard.emplace(*runtime_);
    body();
  };
  const auto visitor = spawn_visitor([&, this] {
    try {
      guarded();
    } catch (const ForcedUnwind&) {
      done = true;
      throw;
    } catch (...) {
      error = std::current_exception();
    }
    done = true;
    turn_ends_ = Instant{};  // Control goes back at once.
    runtime_->scheduler().request_poll();
  });
  pump();
  bool first = true;
  while (!done && !idle_ && !visitor->is_closed()) {
    if (!can_turn_host()) {
      pump();
    } else if (!turn_host(std::exchange(first, false))) {
      break;
    }
  }
  if (!done) abandon_visit(*visitor, done);
  if (error) std::rethrow_exception(error);
}

Coroutine<> Guest::spawn_visitor(std::function<void()> body) {
  const Call call(*this, "enter");
  return spawn_in(*runtime_,
                  {.name = "visit", .priority = Priority::High, .scope = &runtime_->root_scope()},
                  std::move(body));
}

// Nothing can resume the visitor any more, whose caller is about to go.
void Guest::abandon_visit(CoroutineBase& visitor, const bool& done) {
  if (visitor.is_closed()) {
    throw UsageError(
        fmt::format("enter: guest '{}' ends and takes nothing more", runtime_->name()));
  }
  const std::string what = visitor.info();
  {
    const Call call(*this, "enter");
    runtime_->scheduler().cancel(visitor,
                                 std::make_exception_ptr(Cancellation("Deadlock detected")), false);
  }
  pump();
  if (!done) end();
  throw DeadlockError("enter: the host has nothing left to do that could resume " + what);
}

// --- the end ---

void Guest::end() noexcept {
  if (is_ended()) return;
  if (inside() || this_thread() != thread_) {
    std::fprintf(stderr, "fermata: guest '%s' is destroyed %s\n", runtime_->name().c_str(),
                 inside() ? "by its own code" : "on another thread than its own");
    std::abort();
  }
  if (const std::size_t left = runtime_->registry().size() - (stays_ ? 1 : 0); left > 0) {
    runtime_->log(fmt::format("the guest ends while {} coroutines have not ended\n{}", left,
                              runtime_->dump()));
  }
  backend_->lose_host();
  Runtime* const outside = std::exchange(fermata::detail::current_runtime_pointer, runtime_.get());
  runtime_->scheduler().finish_shutdown(
      std::make_exception_ptr(Cancellation("The guest was destroyed")));
  fermata::detail::current_runtime_pointer = outside;
  while (!is_ended()) resume();
  idle_ = true;
}

}  // namespace fermata::host
