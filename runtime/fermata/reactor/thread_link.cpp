// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/thread_link.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"

namespace fermata::detail {

namespace {

/// What the spawner gets for what has ended the thread.
std::exception_ptr for_spawner(const std::exception_ptr& error) {
  return is_cancellation(error) ? error : std::make_exception_ptr(RemoteError(error));
}

}  // namespace

// --- the thread's side ---

void ThreadLink::run(Runtime& runtime) {
  FERMATA_ASSERT(stage_.load() == backend::ThreadStage::Starting);
  error_ = std::make_exception_ptr(Cancellation("The thread was unwound by force"));
  try {
    runtime.run([&] { run_main(runtime); });
    if (const auto code = runtime.scheduler().exit_code()) {
      error_ = std::make_exception_ptr(
          ThreadTransferError(fmt::format("thread '{}' has called exit({})", name_, *code)));
    }
  } catch (const backend::AbandonRun&) {
    throw;
  } catch (...) {
    error_ = for_spawner(std::current_exception());
  }
}

// A cancellation is not an error of the run: it is noted where it ends the main coroutine.
void ThreadLink::run_main(Runtime& runtime) {
  try {
    call_work(runtime);
    error_ = nullptr;
  } catch (const Cancellation&) {
    error_ = std::current_exception();
    throw;
  }
}

void ThreadLink::call_work(Runtime& runtime) {
  struct DropOnExit {
    ThreadLink& link;
    ~DropOnExit() {
      link.work_->drop();
      link.main_ = nullptr;
    }
  };
  const DropOnExit drop{*this};
  open_to_requests(runtime);
  work_->call();
}

void ThreadLink::open_to_requests(Runtime& runtime) {
  FERMATA_ASSERT(main_ == nullptr);
  FERMATA_ASSERT(requested_.get() == nullptr);
  main_ = runtime.current();
  requested_ = runtime.reactor().triggers().make();
  requested_->set_keeper(this);
  on_request_ = subscribe(*requested_, [this](Event&, const Outcome&) { serve(); });
  runtime.reactor().let_threads_in();
  const Lock held(mutex_);
  if (request_ != ThreadRequest::None) throw Cancellation("Thread cancelled before its start");
  thread_ = requested_.get();
  runtime_.store(&runtime);
  stage_.store(backend::ThreadStage::Running);
}

void ThreadLink::serve() noexcept {
  ThreadRequest asked;
  {
    const Lock held(mutex_);
    asked = request_;
  }
  FERMATA_ASSERT(asked != ThreadRequest::None);
  FERMATA_ASSERT(requested_.get() != nullptr);
  Runtime& runtime = requested_->runtime();
  if (asked == ThreadRequest::ShutDown) {
    if (runtime.is_running()) runtime.shutdown();
  } else if (main_ != nullptr) {
    main_->cancel(std::make_exception_ptr(Cancellation("Thread cancelled")));
  }
}

void ThreadLink::before_close() noexcept {
  FERMATA_ASSERT(requested_.get() != nullptr);
  {
    const Lock held(mutex_);
    thread_ = nullptr;
  }
  on_request_.cancel();
  requested_.reset();
}

void ThreadLink::end() noexcept {
  const Lock held(mutex_);
  FERMATA_ASSERT(stage_.load() != backend::ThreadStage::Done);
  FERMATA_ASSERT(thread_ == nullptr);
  FERMATA_ASSERT(main_ == nullptr);
  runtime_.store(nullptr);
  stage_.store(backend::ThreadStage::Done);
  if (spawner_ != nullptr) spawner_->fire();
}

// --- the spawner's side ---

void ThreadLink::set_spawner(backend::TriggerHandle* trigger) noexcept {
  const Lock held(mutex_);
  spawner_ = trigger;
}

void ThreadLink::request(ThreadRequest request) noexcept {
  const Lock held(mutex_);
  if (request <= request_) return;
  request_ = request;
  if (thread_ != nullptr) thread_->fire();
}

Outcome ThreadLink::outcome() const noexcept {
  FERMATA_ASSERT(stage_.load() == backend::ThreadStage::Done);
  return {error_ ? nullptr : work_->result_address(), error_};
}

}  // namespace fermata::detail
