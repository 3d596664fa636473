// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/future_base.hpp"

#include <fmt/format.h>

#include "fermata/base/inlining.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata::detail {

namespace {

std::string at(const SourcePlace& place) { return fmt::format("{}:{}", place.file, place.line); }

}  // namespace

void FutureBase::refuse_write() const {
  if (has(kGivenAway)) {
    throw UsageError("the promise was handed to another thread: " + identity());
  }
  throw UsageError(fmt::format("the future is already completed at {}: {}, expected to be pending",
                               at(completed_), identity()));
}

bool FutureBase::is_writable() const {
  if (has(kGivenAway)) refuse_write();
  return !is_completed();
}

void FutureBase::require_transferable() const {
  if (has(kGivenAway)) {
    throw UsageError("the promise was handed to another thread already: " + identity());
  }
  require_writable();
}

void FutureBase::give_away(std::unique_ptr<WriterElsewhere> writer) noexcept {
  FERMATA_ASSERT(!is_completed());
  FERMATA_ASSERT(!has(kGivenAway));
  FERMATA_ASSERT(writer != nullptr);
  elsewhere_ = std::move(writer);
  set(kGivenAway);
}

void FutureBase::resolve(const Outcome& outcome, const SourcePlace& place, ChainWalk* walk) {
  FERMATA_ASSERT(!is_completed());
  const auto guard = Ref<FutureBase>::share(*this);
  outcome_.result = outcome.result;
  if (outcome.error) outcome_.error = outcome.error;
  completed_ = place;
  set(kCompleted);
  std::exception_ptr thrown;
  try {
    close();
    notify(outcome_);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (!chain_.empty()) hand_over_chain(walk);
  drop_subscribers();
  FERMATA_ASSERT(is_closed());
  if (outcome_.error && exception_handled()) mark_exception_caught();
  if (elsewhere_ != nullptr) dismiss_writer(is_cancelled());
  if (thrown) std::rethrow_exception(thrown);
}

void FutureBase::settle(const Outcome& outcome, const SourcePlace& place,
                        ChainWalk* walk) noexcept {
  if (is_completed()) return;
  try {
    resolve(outcome, place, walk);
  } catch (...) {
    runtime().report_unhandled(std::current_exception());
  }
}

void FutureBase::inherit(FutureBase& source, const SourcePlace& place, ChainWalk* walk) noexcept {
  FERMATA_ASSERT(source.is_completed());
  if (is_completed()) return;
  answer_for(source);
  settle(source.outcome_, place, walk);
}

// A value is kept alive where it is; who only passed it on is not.
void FutureBase::answer_for(FutureBase& source) noexcept {
  FERMATA_ASSERT(&source != this);
  if (is_completed()) return;
  source_ =
      !source.outcome_.error && source.source_ ? source.source_ : Ref<FutureBase>::share(source);
}

void FutureBase::hand_over_chain(ChainWalk* walk) noexcept {
  FERMATA_ASSERT(is_completed());
  FERMATA_ASSERT(!chain_.empty());
  ChainLinks links(std::move(chain_));
  for (ChainLink* link = links.first(); link != nullptr; link = link->next_) {
    link->source_ = Ref<FutureBase>::share(*this);
  }
  ChainWalk::start(std::move(links), walk);
  FERMATA_ASSERT(chain_.empty());
  release();  // The chain's.
}

void FutureBase::attach(ChainLink& link) {
  mark_result_used();
  FERMATA_ASSERT(link.scope_.get() == nullptr);
  link.scope_ = Ref<ScopeBase>::share(runtime().scheduler().current_scope());
  if (chain_.empty()) add_ref();
  chain_.push_back(link);
  if (is_completed()) {
    hand_over_chain(nullptr);
  } else {
    break_if_abandoned();
  }
}

void FutureBase::cancel(std::exception_ptr reason, const SourcePlace& place) {
  if (is_completed()) return;
  if (!is_cancellation(reason)) {
    throw UsageError("cancel: the reason must be a Cancellation: " + identity());
  }
  resolve({nullptr, std::move(reason)}, place);
}

std::exception_ptr FutureBase::error_for_waiter(const std::exception_ptr& error) {
  return awaited_error_.of(error, [this] { return identity(); });
}

void FutureBase::explain_wait(backend::WaitFacts& facts, const CoroutineBase&) const {
  facts.is("future", name_.view(), &created_);
  if (has(kAbandoned) && !is_completed()) facts.abandoned("every promise was dropped");
  if (elsewhere_ != nullptr) elsewhere_->explain(facts);
}

bool FutureBase::answers_for(const Event& other) const noexcept {
  const ChainLink* link = chain_.first();
  while (link != nullptr && &link->child() != &other) link = link->next_;
  return link != nullptr;
}

void FutureBase::lose_writers() noexcept {
  FERMATA_ASSERT(!is_completed());
  set(kAbandoned);
  runtime().kernel().log_wait(backend::WaitAct::Dropped, *this, nullptr);
  if (has_listeners() || !chain_.empty()) break_promise();
}

void FutureBase::break_promise() noexcept {
  FERMATA_ASSERT(has(kAbandoned));
  if (!has(kBreaks)) return abandon_chain();
  settle({nullptr, std::make_exception_ptr(BrokenPromise(
                       "Promise was dropped before it was completed: " + identity()))},
         SourcePlace{});
}

void FutureBase::abandon_chain() noexcept {
  if (chain_.empty()) return;
  ChainLinks links(std::move(chain_));
  release();  // The chain's.
  while (ChainLink* link = links.pop_front()) {
    const auto child = Ref<FutureBase>::share(link->child());
    link->destroy();
    if (child->chain_.empty()) continue;
    while (ChainLink* next = child->chain_.pop_front()) links.push_back(*next);
    child->release();
  }
}

void FutureBase::dismiss_writer(bool cancel) noexcept {
  FERMATA_ASSERT(elsewhere_ != nullptr);
  const auto writer = std::move(elsewhere_);
  writer->dismiss(cancel);
}

FERMATA_HOT void FutureBase::warn() const noexcept {
  if (is_ignored()) return;
  const bool unhandled = outcome_.error != nullptr && !exception_caught() && !is_cancelled();
  if (unhandled || !result_used()) log_warning(unhandled);
}

void FutureBase::dispose() noexcept {
  for (FutureBase* dying = this; dying != nullptr;) {
    FERMATA_ASSERT(dying->chain_.empty());
    if (dying->elsewhere_ != nullptr) {
      dying->dismiss_writer(dying->result_used() && !dying->is_ignored());
    }
    dying->warn();
    Ref<FutureBase> source = std::move(dying->source_);
    if (source && (dying->exception_caught() || dying->is_ignored()))
      source->mark_exception_caught();
    dying->destroy();
    // Long chains end here one by one, not each inside the end of the one before.
    dying = source && source->ref_count() == 1 ? source.detach() : nullptr;
  }
}

FERMATA_COLD void FutureBase::log_warning(bool unhandled) const noexcept {
  FERMATA_ASSERT(!is_ignored());
  try {
    const std::string name = name_.empty() ? "" : fmt::format(" ('{}')", name_.view());
    if (unhandled) {
      runtime().log(
          fmt::format("Unhandled exception in Future: {}; use catch_error() or ignore() to handle. "
                      "Created at {}, "
                      "completed at {}{}",
                      message_of(outcome_.error), at(created_), at(completed_), name));
    } else {
      runtime().log(
          fmt::format("Future was never used; call await(), map(), catch_error(), finally() or "
                      "ignore() to suppress "
                      "this warning. Created at {}{}",
                      at(created_), name));
    }
  } catch (...) {
    return;  // A sink that fails has nobody to tell.
  }
}

std::vector<std::string> FutureBase::awaiting_info() const {
  std::vector<std::string> waiters;
  callbacks().for_each([&](const backend::Callback& callback) {
    if (const auto* registration = dynamic_cast<const backend::Registration*>(&callback)) {
      waiters.push_back(registration->coroutine().info());
    }
  });
  return waiters;
}

std::string FutureBase::info() const {
  return is_completed() ? "Future(completed)" : "Future(pending)";
}

std::string FutureBase::identity() const {
  return name_.empty() ? fmt::format("Future created at {}", at(created_))
                       : fmt::format("Future '{}' created at {}", name_.view(), at(created_));
}

}  // namespace fermata::detail
