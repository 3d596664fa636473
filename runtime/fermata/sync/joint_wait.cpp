// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/joint_wait.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/exception_ptr_cast.hpp"

namespace fermata::detail {

namespace {

constexpr std::size_t kFirstBlock = 32;
constexpr std::size_t kItemsShown = 3;

/// Fires whenever one more item may be pulled.
class Room final : public Event {
 public:
  explicit Room(Runtime& runtime) : Event(runtime, backend::EventKind::Plain) { promise_to_tell(); }
};

WaitOptions wait_options(const AwaitOptions& options) { return {options.timeout, options.token}; }

/// What `wait` throws; null when it returns. A forced end goes on at once.
template <class Wait>
std::exception_ptr interruption(Wait wait) {
  try {
    wait();
    return nullptr;
  } catch (const ForcedUnwind&) {
    throw;
  } catch (...) {
    return std::current_exception();
  }
}

/// Whether the token or the timeout has ended a wait.
bool is_limit(const std::exception_ptr& error) noexcept {
  return exception_ptr_cast<OperationCancelled>(error) != nullptr ||
         exception_ptr_cast<Timeout>(error) != nullptr;
}

}  // namespace

void JointItem::run(Event& event, const Outcome& outcome) {
  FERMATA_ASSERT(&event == &this->event());
  wait_->ended(*this, outcome);
}

JointWait::JointWait(const JointRule& rule, const AwaitOptions& options)
    : Event(current_runtime(), backend::EventKind::Joint),
      rule_(rule),
      options_(options),
      waiter_(&current_coroutine()),
      deadline_(wait_options(options)) {
  check_token(wait_options(options));
  promise_to_tell();
}

void JointWait::reserve(std::size_t count) {
  if (count <= room_) return;
  blocks_.push_back(std::make_unique<JointItem[]>(count));
  next_free_ = blocks_.back().get();
  room_ = count;
  FERMATA_ASSERT(room_ > 0);
}

void JointWait::add(Event* event) {
  touched();
  const auto refuse = [&](const char* what) {
    throw UsageError(fmt::format("{}: item {} {}", rule_.operation, total_, what));
  };
  if (event == nullptr) refuse("refers to nothing: expected something to wait for");
  if (event == waiter_) refuse("is the current coroutine, which cannot await itself");
  if (event->is_closed() && event->replay() == nullptr) refuse("is closed and keeps no outcome");
  if (room_ == 0) reserve(total_ == 0 ? kFirstBlock : total_);
  FERMATA_ASSERT(!sealed_);
  FERMATA_ASSERT(room_ > 0);
  JointItem& item = *next_free_++;
  --room_;
  item.wait_ = this;
  item.set_event(*event);
  item.index_ = total_++;
  ++pending_;
  (first_ != nullptr ? last_->next_ : first_) = &item;
  last_ = &item;
  event->mark_result_used();
  if (loop_ref_count() == 0) return;
  answer_if_closed(item);
  if (item.state_ != JointItem::State::Pending || settled_) return;
  item.subscribe();
  item.start_event();
}

void JointWait::seal() {
  touched();
  sealed_ = true;
  settle_if_satisfied();
}

void JointWait::feed(std::function<bool()> pull, const SourcePlace& place) {
  FERMATA_ASSERT(!source_);
  FERMATA_ASSERT(!sealed_);
  room_for_more_ = Ref<Event>::adopt(*new Room(runtime()));
  source_ = spawn(
      Name(std::string(rule_.operation) + ".source"),
      [this, pull = std::move(pull), room = room_for_more_] {
        const std::size_t limit = options_.concurrency;
        const auto wants_more = [this] {
          touched();
          return !settled_;
        };
        while (wants_more() && pull()) {
          while (limit != 0 && pending_ >= limit) {
            fermata::wait(*room);
            touched();
          }
        }
        seal();
      },
      place);
  source_ended_ = subscribe(source_.event(), [this](Event& source, const Outcome& outcome) {
    if (!outcome.error) return;
    source.mark_exception_handled();
    if (!settled_) settle(outcome.error);
  });
}

// One that answers while it is being armed may end the whole wait there and then.
void JointWait::arm() {
  try {
    for (JointItem* item = first_; item != nullptr; item = item->next_) {
      if (item->state_ == JointItem::State::Pending) item->subscribe();
    }
    for (JointItem* item = first_; item != nullptr && !settled_; item = item->next_) {
      if (item->state_ == JointItem::State::Pending) item->start_event();
    }
  } catch (...) {
    disarm();
    throw;
  }
}

void JointWait::disarm() noexcept {
  for (JointItem* item = first_; item != nullptr; item = item->next_) {
    if (item->state_ == JointItem::State::Pending) item->let_go();
  }
}

void JointWait::answer_if_closed(JointItem& item) {
  if (item.state_ != JointItem::State::Pending || !item.event().is_closed()) return;
  item.event().touched();
  ended(item, *item.event().replay());
}

void JointWait::ended(JointItem& item, const Outcome& outcome) {
  FERMATA_ASSERT(item.wait_ == this);
  FERMATA_ASSERT(item.state_ == JointItem::State::Pending);
  FERMATA_ASSERT(pending_ > 0);
  runtime().kernel().trace(backend::Trace::CallbackCalled, this, 0);
  item.let_go();
  item.late_ = joining_;
  (first_ended_ != nullptr ? last_ended_->next_ended_ : first_ended_) = &item;
  last_ended_ = &item;
  --pending_;
  if (room_for_more_) room_for_more_->notify({});
  if (!outcome.error) {
    item.state_ = JointItem::State::Succeeded;
    ++succeeded_;
    return settle_if_satisfied();
  }
  item.state_ = JointItem::State::Failed;
  item.error_ = item.error_in(outcome);
  if (rule_.ignore_errors || joining_) return settle_if_satisfied();
  failed_ = &item;
  settle(item.error_);
}

void JointWait::settle_if_satisfied() {
  FERMATA_ASSERT(pending_ <= total_);
  FERMATA_ASSERT(succeeded_ <= total_ - pending_);
  if (settled_) return;
  const std::size_t count = rule_.ignore_errors ? succeeded_ : total_ - pending_;
  const bool enough = !joining_ && count >= rule_.needed;
  if (enough || (sealed_ && pending_ == 0)) settle(error_);
}

void JointWait::settle(const std::exception_ptr& error) {
  settled_ = true;
  error_ = error;
  notify({});
}

void JointWait::wait_for_settlement(const WaitOptions& options, const SourcePlace& place) {
  settle_if_satisfied();
  for (JointItem* item = first_; item != nullptr && !settled_; item = item->next_) {
    answer_if_closed(*item);
  }
  if (!settled_) wait_with(*this, options, place);
  FERMATA_ASSERT(settled_);
}

void JointWait::run(const SourcePlace& place) {
  const WaitOptions limits = deadline_.remaining();
  if (options_.on_exit == ExitPolicy::Detach && !source_) {
    wait_for_settlement(limits, place);
    if (error_) fail();
  } else {
    auto interrupted = interruption([&] { wait_for_settlement(limits, place); });
    if (source_) interrupted = stop_source(std::move(interrupted), place);
    leave(std::move(interrupted), place);
  }
  if (!rule_.ignore_errors) return;
  for (JointItem* item = first_ended_; item != nullptr; item = item->next_ended_) {
    if (item->state_ == JointItem::State::Failed) item->event().mark_exception_caught();
  }
}

// The source must not add to what is gone. What it throws now would be nobody's: it comes with what
// has ended the wait.
std::exception_ptr JointWait::stop_source(std::exception_ptr&& interrupted,
                                          const SourcePlace& place) {
  settled_ = true;
  source_ended_.cancel();
  source_.cancel();
  std::exception_ptr stopped = interruption([&] {
    protect([&] {
      JointWait end({"join", JointRule::kAll, true}, {});
      end.add(&source_.event());
      end.seal();
      end.run(place);
    });
  });
  const std::exception_ptr& failure = source_->error();
  if (failure != error_ && failure && !is_cancellation(failure)) {
    if (!interrupted && failed_ != nullptr) failed_->event().mark_exception_caught();
    interrupted =
        interrupted ? link_previous(interrupted, failure) : link_previous(failure, error_);
  }
  return link_previous(stopped, interrupted);
}

void JointWait::fail() {
  FERMATA_ASSERT(error_ != nullptr);
  if (failed_ != nullptr) failed_->event().mark_exception_caught();
  std::rethrow_exception(error_);
}

void JointWait::leave(std::exception_ptr&& interrupted, const SourcePlace& place) {
  const auto join_and_throw = [&](const WaitOptions& limits) {
    std::exception_ptr stopped = join(limits, place);
    if (is_limit(stopped) && (interrupted || error_)) stopped = nullptr;
    if (interrupted) std::rethrow_exception(link_previous(stopped, interrupted));
    if (stopped && failed_ != nullptr) failed_->event().mark_exception_caught();
    if (stopped) std::rethrow_exception(link_previous(stopped, error_));
    if (error_) fail();
  };
  if (options_.on_exit == ExitPolicy::CancelAndJoin) {
    cancel_pending();
    protect([&] { join_and_throw({}); });
  } else if (options_.on_exit == ExitPolicy::Join && !is_limit(interrupted)) {
    join_and_throw(deadline_.remaining());  // The limits of the wait are those of the join as well.
  } else {
    if (interrupted) std::rethrow_exception(interrupted);
    if (error_) fail();
  }
}

std::exception_ptr JointWait::join(const WaitOptions& limits, const SourcePlace& place) {
  FERMATA_ASSERT(!joining_);
  joining_ = true;
  sealed_ = true;
  settled_ = false;
  std::exception_ptr stopped = interruption([&] { wait_for_settlement(limits, place); });
  if (options_.on_exit == ExitPolicy::CancelAndJoin) catch_late_failures();
  return stopped;
}

// Who was told to end, and was waited for, has been heard.
void JointWait::catch_late_failures() noexcept {
  for (JointItem* item = first_ended_; item != nullptr; item = item->next_ended_) {
    if (item->late_ && item->error_) item->event().mark_exception_caught();
  }
}

void JointWait::cancel_pending() {
  const auto reason = std::make_exception_ptr(Cancellation("The wait for it has ended"));
  for (JointItem* item = first_; item != nullptr; item = item->next_) {
    if (item->state_ != JointItem::State::Pending || item->event().request_cancel(reason)) continue;
    FERMATA_ASSERT(pending_ > 0);
    item->state_ = JointItem::State::Left;
    --pending_;
  }
}

bool JointWait::reports(const JointItem& item) const noexcept {
  if (item.state() != JointItem::State::Failed) return false;
  const bool cancelled_here = item.is_late() && options_.on_exit == ExitPolicy::CancelAndJoin;
  return !cancelled_here || !is_cancellation(item.error());
}

void JointWait::explain_wait(backend::WaitFacts& facts, const CoroutineBase&) const {
  facts.is(rule_.operation, {}, nullptr);
  facts.state(fmt::format("{} of {} have not ended", pending_, total_));
  const bool all = rule_.needed >= total_;
  for (const JointItem* item = first_; item != nullptr; item = item->next_) {
    if (item->state_ != JointItem::State::Pending) continue;
    all ? facts.needs(item->event()) : facts.accepts(item->event());
  }
  if (!sealed_ && source_) facts.needs(source_.event());
}

std::string JointWait::info() const {
  std::string text = fmt::format("{}: {} of {} items have not ended", rule_.operation, pending_,
                                 sealed_ ? fmt::to_string(total_) : "an unknown number of");
  std::size_t shown = 0;
  for (const JointItem* item = first_; item != nullptr && shown <= kItemsShown;
       item = item->next_) {
    if (item->state_ != JointItem::State::Pending) continue;
    text += shown++ < kItemsShown ? "; " + item->event().info() : "; ...";
  }
  return text;
}

}  // namespace fermata::detail
