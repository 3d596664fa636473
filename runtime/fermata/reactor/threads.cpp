// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/sweep.hpp"
#include "fermata/core/wait_facts.hpp"

namespace fermata::backend {

namespace {
constexpr std::size_t kSharedAtFirst = 16;
}

// --- one thread ---

ThreadEvent::ThreadEvent(Threads& threads, std::shared_ptr<detail::ThreadLink> link)
    : Event(threads.attachment_.runtime(), EventKind::Thread),
      threads_(threads),
      link_(std::move(link)),
      ended_(runtime().reactor().triggers().make()) {
  on_end_ = subscribe(*ended_, [this](Event&, const Outcome&) { threads_.ended(*this); });
  ended_->set_keeper(this);
  link_->set_spawner(ended_.get());
}

ThreadEvent::~ThreadEvent() {
  link_->set_spawner(nullptr);
  ended_->set_keeper(nullptr);
  if (outcome_.error && !exception_caught() && !exception_owed() &&
      !is_cancellation(outcome_.error)) {
    runtime().log(fmt::format("thread '{}' has failed with an unhandled error: {}", name(),
                              describe(outcome_.error)));
  }
}

ThreadStage ThreadEvent::stage() const noexcept {
  if (is_closed()) return ThreadStage::Done;
  return std::min(link_->stage(), ThreadStage::Running);
}

void ThreadEvent::finally(std::function<void()> handler) {
  if (is_closed()) {
    const detail::NoSuspend guard(runtime());
    handler();
  } else {
    handlers_.push_back(std::move(handler));
  }
}

std::string ThreadEvent::info() const { return fmt::format("{} \"{}\"", Event::info(), name()); }

void ThreadEvent::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  facts.is("thread", name(), nullptr);
  if (const Runtime* run = link_->run_of_thread()) facts.ends_with(run);
  facts.outside("the thread");
}

void ThreadEvent::before_close() noexcept { link_->set_spawner(nullptr); }

void ThreadEvent::settle() noexcept {
  if (is_closed()) return;
  outcome_ = link_->outcome();
  try {
    notify_and_close(outcome_);
    run_handlers();
  } catch (...) {
    runtime().report_unhandled(std::current_exception());
  }
  FERMATA_ASSERT(is_closed());
}

void ThreadEvent::run_handlers() {
  auto handlers = std::exchange(handlers_, {});
  if (handlers.empty() || !runtime().is_running()) return;
  detail::Sweep::launch(runtime().scheduler(), runtime().root_scope(), name() + ".finally",
                        std::move(handlers));
}

void ThreadEvent::linger() {
  if (!std::exchange(lingers_, true)) start();
}

// --- all of them ---

// It is known, and everything is there that its end needs, before it runs.
Ref<ThreadEvent> Threads::start(std::string name, std::unique_ptr<detail::ThreadWork> work) {
  auto link = std::make_shared<detail::ThreadLink>(std::move(name), std::move(work));
  auto thread = Ref<ThreadEvent>::adopt(*new ThreadEvent(*this, link));
  live_.push_back(thread);
  try {
    launch(link);
  } catch (...) {
    remove(*thread);
    throw;
  }
  attachment_.runtime().reactor().let_threads_in();
  return thread;
}

void Threads::ended(ThreadEvent& thread) {
  const auto guard = Ref<ThreadEvent>::share(thread);
  join(*thread.link_);
  remove(thread);
  thread.settle();
}

void Threads::remove(const ThreadEvent& thread) noexcept {
  std::erase_if(live_, [&](const auto& each) { return each.get() == &thread; });
}

void Threads::end_with_run(std::weak_ptr<EndsWithRun> shared) {
  if (end_with_run_.size() >= look_for_dead_at_) {
    std::erase_if(end_with_run_, [](const auto& each) { return each.expired(); });
    look_for_dead_at_ = 2 * end_with_run_.size() + kSharedAtFirst;
  }
  end_with_run_.push_back(std::move(shared));
}

void Threads::tell_run_ends() noexcept {
  for (const auto& each : std::exchange(end_with_run_, {})) {
    if (const auto shared = each.lock()) shared->run_ends();
  }
  look_for_dead_at_ = 0;
}

bool Threads::linger() {
  tell_run_ends();
  for (const auto& thread : live_) thread->linger();
  return !live_.empty();
}

void Threads::shut_down() noexcept {
  for (const auto& thread : live_) thread->link_->request(detail::ThreadRequest::ShutDown);
}

void Threads::quiesce() noexcept {
  tell_run_ends();
  shut_down();
  FERMATA_ASSERT(end_with_run_.empty());
  while (!live_.empty()) {
    const auto thread = live_.back();
    live_.pop_back();
    join(*thread->link_);
    thread->settle();
  }
}

}  // namespace fermata::backend
