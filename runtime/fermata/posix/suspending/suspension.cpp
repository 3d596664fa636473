// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/suspending/suspension.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <cstring>
#include <new>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/posix/suspending/descriptor_wait.hpp"
#include "fermata/posix/suspending/suspending.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::posix {

namespace {

constexpr unsigned kMostIgnored = 10'000;

constinit thread_local Suspension* current_suspension = nullptr;

bool same_mask(const sigset_t& a, const sigset_t& b) noexcept {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

class Suspension::Handler final : public backend::SwitchHandler {
 public:
  explicit Handler(Suspension& suspension) noexcept : suspension_(suspension) {}

  bool on_switch(CoroutineBase&, backend::SwitchMoment moment) override {
    FERMATA_ASSERT(moment != backend::SwitchMoment::Finish);
    if (moment == backend::SwitchMoment::Leave) suspension_.leave();
    if (moment == backend::SwitchMoment::Enter) suspension_.enter();
    return true;
  }

 private:
  Suspension& suspension_;
};

/// While it lives Fermata works for the scope, on the system's own calls.
class Suspension::Off {
 public:
  explicit Off(Suspension& suspension) noexcept
      : serving_(suspension.outside_, nullptr),
        before_(std::exchange(current_suspension, suspension.outer_)),
        errno_(errno) {}
  Off(const Off&) = delete;
  Off& operator=(const Off&) = delete;
  ~Off() {
    current_suspension = before_;
    errno = errno_;
  }

 private:
  Serving serving_;
  Suspension* before_;
  int errno_;
};

Suspension::Suspension(CoroutineBase& coroutine, const SourcePlace& place)
    : coroutine_(coroutine),
      place_(place),
      locks_(coroutine.label(), place),
      outer_(current_suspension),
      outside_(serving),
      handler_(std::make_shared<Handler>(*this)) {
  os::kernel.pthread_sigmask(SIG_SETMASK, nullptr, &outside_mask_);
  coroutine_.add_switch_handler(handler_);
  outer_locks_ = HeldLocks::enter(&locks_);
  serving = &kernel_;
  current_suspension = this;
}

Suspension::~Suspension() {
  FERMATA_ASSERT(current_suspension == this);
  current_suspension = outer_;
  serving = outside_;
  HeldLocks::enter(outer_locks_);
  coroutine_.remove_switch_handler(*handler_);
}

Suspension* Suspension::current() noexcept { return current_suspension; }

void Suspension::leave() noexcept {
  errno_ = errno;
  HeldLocks::enter(outer_locks_);
  was_on_ = current_suspension == this;
  if (was_on_) {
    current_suspension = outer_;
    serving = outside_;
  }
  os::kernel.pthread_sigmask(SIG_SETMASK, nullptr, &own_mask_);
  has_own_mask_ = !same_mask(own_mask_, outside_mask_);
  if (has_own_mask_) os::kernel.pthread_sigmask(SIG_SETMASK, &outside_mask_, nullptr);
}

void Suspension::enter() noexcept {
  FERMATA_ASSERT(current_suspension == outer_);
  HeldLocks::enter(&locks_);
  if (was_on_) {
    current_suspension = this;
    serving = &kernel_;
  }
  os::kernel.pthread_sigmask(SIG_SETMASK, has_own_mask_ ? &own_mask_ : nullptr, &outside_mask_);
  errno = errno_;
}

bool Suspension::can_suspend() const noexcept {
  Runtime& runtime = coroutine_.runtime();
  return &current_runtime() == &runtime && runtime.current() == &coroutine_ &&
         runtime.kernel().no_suspend == 0 && !runtime.scheduler().in_scheduler_context();
}

// Throws when it is ignored again and again.
int Suspension::refusal() {
  if (ending_ == nullptr) return 0;
  if (!std::exchange(told_, true)) return -EINTR;
  if (gave_up_) std::rethrow_exception(ending_);
  if (++ignored_ <= kMostIgnored) return -ECANCELED;
  gave_up_ = true;
  const auto error = std::make_exception_ptr(UsageError(fmt::format(
      "suspending at {}: foreign code was cancelled, and has ignored that {} times: expected it to "
      "return when a call fails with ECANCELED",
      place_.text(), kMostIgnored)));
  ending_ = link_previous(error, ending_);
  std::rethrow_exception(ending_);
}

std::exception_ptr Suspension::end_with(std::exception_ptr thrown) const {
  if (ending_ == nullptr) return thrown;
  if (thrown == nullptr || gave_up_ || is_forced_unwind(ending_)) return ending_;
  return link_previous(ending_, std::move(thrown));
}

// Nothing may be thrown through foreign frames: it is kept for the end of the scope.
template <class Wait>
int Suspension::suspended(const Wait& wait) {
  if (const int code = refusal()) return code;
  const Off off(*this);
  try {
    return wait();
  } catch (const Timeout&) {
    return -ETIMEDOUT;
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  } catch (...) {
    ending_ = std::current_exception();
    told_ = true;
    return -EINTR;
  }
}

int Suspension::wait(std::span<const pollfd> asked, Limit limit) {
  if (!can_suspend()) return blocking_.wait(asked, limit);
  return suspended([&] { return wait_for_descriptors(asked, limit, place_); });
}

int Suspension::sleep(std::chrono::nanoseconds span) {
  if (!can_suspend()) return blocking_.sleep(span);
  return suspended([&] {
    delay(span, place_);
    return 0;
  });
}

int Suspension::run_blocking(std::function<void()> work) {
  if (!can_suspend()) return blocking_.run_blocking(std::move(work));
  return suspended([&] {
    offload(std::move(work), {}, place_);
    return 0;
  });
}

void Suspension::yield() {
  if (!can_suspend() || ending_ != nullptr) return;
  static_cast<void>(suspended([&] {
    suspend(place_);
    return 0;
  }));
  told_ = false;  // Nobody has seen the answer.
}

// --- suspending() ---

namespace {

/// Whether somebody serves this coroutine already.
bool is_served() noexcept {
  if (serving == nullptr) return false;
  const Suspension* const around = Suspension::current();
  return around == nullptr || &around->coroutine() == current_runtime().current();
}

/// A simulated machine keeps a cancellation for the next operation, which is this one.
void throw_pending(const CoroutineBase& me, const SourcePlace& place) {
  if (me.is_cancellation_requested() || fermata::detail::Scheduler::unwinding(me)) suspend(place);
}

}  // namespace

void detail::run_suspending(fermata::detail::FunctionRef<void()> function,
                            const SourcePlace& place) {
  CoroutineBase& me = current_runtime().scheduler().require_suspendable("suspending");
  FERMATA_REQUIRE(is_linked(),
                  "suspending: the program does not define the functions of the C library anew: "
                  "expected it to be linked with fermata::posix");
  if (is_served()) {
    function();
    return serving_machine() != nullptr ? throw_pending(me, place) : void();
  }
  Suspension suspension(me, place);
  try {
    function();
  } catch (...) {
    std::rethrow_exception(suspension.end_with(std::current_exception()));
  }
  if (const std::exception_ptr error = suspension.end_with(nullptr)) std::rethrow_exception(error);
}

}  // namespace fermata::posix
