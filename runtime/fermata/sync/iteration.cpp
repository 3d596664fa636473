// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/iteration.hpp"

#include <fmt/format.h>

#include <limits>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/joint_wait.hpp"

namespace fermata::detail {

namespace {

/// The caller waits, a shutdown may interrupt that, and so may its second stage; after that
/// everybody is unwound by force.
constexpr int kWaits = 3;

std::size_t limit_of(std::ptrdiff_t concurrency) {
  if (concurrency < 0) {
    throw UsageError(fmt::format(
        "iterate: a concurrency of {}: expected zero, for no limit, or more", concurrency));
  }
  return concurrency == 0 ? std::numeric_limits<std::size_t>::max()
                          : static_cast<std::size_t>(concurrency);
}

std::exception_ptr cancellation(const char* what) {
  return std::make_exception_ptr(Cancellation(what));
}

}  // namespace

/// The place of one worker; part of its body.
class Iteration::Seat {
 public:
  explicit Seat(Iteration& iteration) noexcept : iteration_(&iteration) {
    iteration_->add_ref();
    ++iteration_->workers_;
  }
  Seat(Seat&& other) noexcept : iteration_(std::exchange(other.iteration_, nullptr)) {}
  Seat& operator=(Seat&&) = delete;
  ~Seat() {
    if (iteration_ == nullptr) return;
    iteration_->worker_left();
    iteration_->release();
  }

  void work() const { iteration_->work(); }

 private:
  Iteration* iteration_;
};

/// A destructor that waits for it waits for coroutines.
class Iteration::Done final : public Event {
 public:
  explicit Done(Runtime& runtime) : Event(runtime, backend::EventKind::Joint) {}
  ~Done() override { shut(); }
  [[nodiscard]] std::string info() const override { return "the workers of an iteration"; }
};

Iteration::Iteration(const IterateOptions& options, const SourcePlace& place)
    : limit_(limit_of(options.concurrency)),
      cancel_pending_(options.cancel_pending),
      priority_(options.priority),
      place_(place),
      scope_("iterate", place),
      done_(Ref<Event>::adopt(*new Done(scope_->runtime()))) {
  scope_.set_exception_handler(
      [this](ScopeBase&, CoroutineBase&, const std::exception_ptr& error) { fail(error); });
}

void Iteration::expect_another() {
  if (queued_ || finished_ || workers_ >= limit_) return;
  queued_ = true;
  scope_->runtime().queue_microtask(*this);
}

void Iteration::run() {
  FERMATA_ASSERT(queued_);
  queued_ = false;
  if (finished_ || moving_ || workers_ >= limit_ || !scope_->is_open() || !may_have_more()) return;
  try {
    spawn_worker();
  } catch (...) {
    fail(std::current_exception());
  }
}

void Iteration::spawn_worker() {
  FERMATA_ASSERT(workers_ < limit_);
  spawn_in(scope_->runtime(), Name("iterate.worker"), place_, priority_, &*scope_,
           [seat = Seat(*this)] { seat.work(); });
}

void Iteration::work() {
  while (!finished_ && !moving_) {
    try {
      if (!step()) finished_ = true;
    } catch (const ForcedUnwind&) {
      throw;
    } catch (...) {
      fail(std::current_exception());
    }
  }
}

void Iteration::fail(const std::exception_ptr& error) {
  FERMATA_ASSERT(error != nullptr);
  if (!is_cancellation(error)) {
    error_ = link_previous(error_, error);
  } else if (!finished_) {
    cancellation_ = error;
  }
  if (std::exchange(finished_, true)) return;
  scope_->cancel({.reason = cancellation("Cancellation of the iterator due to an exception"),
                  .started = StartedMembers::Cancel});
}

void Iteration::worker_left() noexcept {
  FERMATA_ASSERT(workers_ > 0);
  if (--workers_ == 0) done_->notify({});
}

void Iteration::wait_for_workers() {
  if (workers_ > 0) wait(*done_, {}, place_);
}

// Members of the scope that callbacks have spawned; how they end is the scope's handler's business.
void Iteration::end_scope() {
  if (cancel_pending_ && !scope_->is_empty()) {
    scope_->cancel(
        {.reason = cancellation("Cancellation of pending coroutines after iterator completion"),
         .started = StartedMembers::Cancel});
  }
  while (!scope_->is_empty()) {
    JointWait end({"iterate", JointRule::kAll, true}, {});
    end.add(&*scope_);
    end.seal();
    end.run(place_);
  }
}

// The first wait can be cancelled; then the workers are to end, and nothing but a forced end of the
// run keeps the caller from waiting for that.
std::exception_ptr Iteration::wait_for_all() {
  std::exception_ptr interrupted;
  for (int i = 0; i < kWaits && !scope_->is_empty(); ++i) {
    try {
      if (i == 0) wait_for_workers();
      protect([this] {
        wait_for_workers();
        end_scope();
      });
    } catch (const ForcedUnwind&) {
      throw;
    } catch (...) {
      interrupted = link_previous(std::current_exception(), interrupted);
      finished_ = true;
      if (cancel_pending_)
        scope_->cancel({.reason = cancellation("The iteration was cancelled"),
                        .started = StartedMembers::Cancel});
    }
  }
  return interrupted;
}

void Iteration::run_to_end() {
  FERMATA_ASSERT(workers_ == 0);
  FERMATA_ASSERT(!finished_);
  spawn_worker();
  const std::exception_ptr interrupted = wait_for_all();
  cancel();
  scope_.set_exception_handler(nullptr);
  if (error_) std::rethrow_exception(link_previous(error_, interrupted));
  if (interrupted) std::rethrow_exception(interrupted);
  if (cancellation_) std::rethrow_exception(cancellation_);
  if (!finished_) throw Cancellation("The workers of the iteration were cancelled");
}

}  // namespace fermata::detail
