// SPDX-License-Identifier: Apache-2.0
#pragma once

// A runtime inside a loop that belongs to somebody else: the host. Coroutines, timers, descriptors,
// TCP, signals and triggers work as they do under Runtime::run.
//
// How      The runtime runs on a stack of its own. Whatever it waits for makes one descriptor
//          readable; the host watches that and calls pump(), in which the guest runs until it
//          has to wait or its share of time is over, and never blocks.
// Idle     Nothing in the guest can go on by itself. That is not a deadlock, since the host's
//          code may wake who waits; a host that ends when it has nothing to do need not stay
//          for it.
// Threads  The host's, always the same one.
// End      close() is graceful and takes turns of the host; the destructor ends by force what
//          has not ended, and never waits for the host. Handles and events of the guest must
//          be gone before it. A host that stops early leaves a guest that stands still.
// Hosts    This class: whoever can watch one descriptor. uv/guest.hpp, asio.hpp, glib.hpp:
//          their loops.

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "fermata/core/spawn.hpp"
#include "fermata/host/hosting_backend.hpp"
#include "fermata/host/side_stack.hpp"

namespace fermata::host {

struct GuestOptions {
  /// Options of the runtime; `runtime.handle_stop_signals` is ignored, set the member below.
  RuntimeOptions runtime = {.name = "guest"};

  /// SIGINT and SIGTERM begin the guest's shutdown. They are the host's business otherwise.
  bool handle_stop_signals = false;

  /// How long one pump may go on while there is more to do, looked at where coroutines change,
  /// every 61 steps at the latest. Zero: the host gets a turn at each look.
  Duration turn_limit = std::chrono::milliseconds(1);

  /// The guest has become idle. Called on the host's stack; must not destroy the guest. What it
  /// throws ends the guest.
  std::function<void()> on_idle;

  /// The guest has ended; with the error that ended it, or null. As above, but must not throw.
  std::function<void(const std::exception_ptr&)> on_end;
};

class Guest : private detail::Gate {
 public:
  /// Idle at first. Throws InputOutputError when the system has no descriptors left for it,
  /// StackExhausted.
  explicit Guest(GuestOptions options = {}) : Guest("hosted", std::move(options)) {}
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  virtual ~Guest();

  // --- for the program ---

  [[nodiscard]] Runtime& runtime() noexcept { return *runtime_; }

  /// Starts a coroutine of the guest, from the host's code or from the guest's; it runs from the
  /// next turn on. Throws UsageError when the guest has ended.
  template <class F>
  auto spawn(Name&& name, F&& body, const SourcePlace& place = SourcePlace::current()) {
    const Call call(*this, "spawn");
    return spawn_in(*runtime_,
                    {.name = std::move(name), .place = place, .scope = &runtime_->root_scope()},
                    std::forward<F>(body));
  }

  /// Runs `body` as a coroutine of the guest, now, and returns or throws what it does. It may wait
  /// where the host can be turned meanwhile, and the host is; DeadlockError is thrown when the
  /// guest becomes idle over it. With other hosts a wait throws UsageError. From the host's code
  /// only.
  template <class F>
  auto enter(F&& body) -> std::invoke_result_t<F&> {
    if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
      visit([&] { body(); });
    } else {
      std::optional<std::invoke_result_t<F&>> result;
      visit([&] { result.emplace(body()); });
      return std::move(*result);
    }
  }

  /// Begins a graceful shutdown: every coroutine is cancelled and cleans up in the turns that
  /// follow. No effect when it has ended.
  void close();

  [[nodiscard]] bool is_idle() const noexcept { return idle_; }
  [[nodiscard]] bool is_ended() const noexcept { return stack_->is_ended(); }
  /// The error that has ended the guest, or null.
  [[nodiscard]] const std::exception_ptr& error() const noexcept { return error_; }

  // --- for the host ---

  /// Readable when pump() is to be called; level-triggered. The same all the guest's life, and the
  /// guest's own: the host must not close it.
  [[nodiscard]] int descriptor() const noexcept { return backend_->descriptor(); }

  /// One turn of the guest. Never blocks; harmless when there is nothing to do. Throws UsageError
  /// inside of the guest and on another thread than before.
  void pump();

  /// Whether the code that runs is the guest's.
  [[nodiscard]] bool inside() const noexcept { return stack_->inside(); }

  /// Whether turn_host() works.
  [[nodiscard]] virtual bool can_turn_host() const noexcept { return false; }

 protected:
  /// `name` is what the reactor is called, and must live forever.
  Guest(std::string_view name, GuestOptions&& options);

  // --- of each host ---

  /// Whether the host must stay for the guest's sake has changed. Not called by destructors.
  virtual void keep_host(bool) noexcept {}
  /// Lets the host do what it has to do next, waiting for it; false when it has ended or was
  /// stopped. `first`: of the turns for one wait.
  virtual bool turn_host([[maybe_unused]] bool first) { return false; }

  /// The guest is to be pumped soon, though it has nothing to do.
  void ask_for_turn() noexcept { backend_->ask_for_turn(); }

  /// Ends the guest by force: for destructors, while the hooks above can still be called.
  void end() noexcept;

 private:
  /// A call of the host's code into the runtime.
  class Call {
   public:
    Call(Guest& guest, const char* operation);
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call();

   private:
    Guest& guest_;
    Runtime* outside_;
  };

  [[nodiscard]] bool turn_is_over() const noexcept override;
  void leave(bool waits) noexcept override;

  void run() noexcept;
  void stay();
  void resume();
  void tell();
  void visit(const std::function<void()>& body);
  void abandon_visit(CoroutineBase& visitor, const bool& done);
  [[nodiscard]] Coroutine<> spawn_visitor(std::function<void()> body);
  void require_thread(const char* operation) const;
  void require_outside(const char* operation) const;

  GuestOptions options_;
  std::string_view host_name_;
  detail::HostingBackend* backend_ = nullptr;  // Belongs to the runtime.
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<detail::SideStack> stack_;
  Runtime* current_ = nullptr;  // What is current inside.
  std::uint64_t thread_;
  Instant turn_ends_;
  std::exception_ptr error_;
  bool stays_ = false;  // The main coroutine waits.
  bool waits_ = false;  // It left because there was nothing to do.
  bool idle_ = true;
  bool keeps_host_ = false;
  bool told_of_end_ = false;
};

}  // namespace fermata::host
