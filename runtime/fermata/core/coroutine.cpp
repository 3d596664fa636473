// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/coroutine.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/context/context.hpp"
#include "fermata/core/limit.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata {

[[gnu::flatten]] CoroutineBase::CoroutineBase(Runtime& runtime, std::size_t block_bytes,
                                              Name&& name, const SourcePlace& place) noexcept
    : Event(runtime, backend::EventKind::Coroutine),
      name_(std::move(name)),
      spawn_place_(place),
      waker_(*this),
      block_bytes_(static_cast<std::uint32_t>(block_bytes)) {
  FERMATA_ASSERT(block_bytes_ == block_bytes);
  promise_to_tell();
}

std::string CoroutineBase::label() const {
  return name_.empty() ? fmt::format("coroutine {}", id_) : std::string(name_.view());
}

bool CoroutineBase::is_running() const noexcept {
  return runtime().current() == this && !is_closed();
}

bool CoroutineBase::is_suspended() const noexcept {
  return is_started() && !is_closed() && runtime().current() != this &&
         (waker_.status == backend::WakerStatus::Waiting ||
          waker_.status == backend::WakerStatus::Queued);
}

bool CoroutineBase::is_cancellation_requested() const noexcept {
  if (is_closed()) return false;
  return has(kCancelled) || (extras_ != nullptr && extras_->deferred_cancellation != nullptr);
}

void CoroutineBase::cancel(std::exception_ptr reason, bool safely) {
  runtime().scheduler().cancel(*this, std::move(reason), safely);
}

void CoroutineBase::set_priority(Priority priority) noexcept {
  runtime().scheduler().set_priority(*this, priority);
}

void CoroutineBase::finally(FinallyHandler handler) {
  if (is_closed()) {
    const detail::NoSuspend guard(runtime());
    handler(*this);
  } else {
    extras().finally_handlers.push_back(std::move(handler));
  }
}

std::size_t CoroutineBase::add_switch_handler(std::shared_ptr<backend::SwitchHandler> handler) {
  return extras().switch_handlers.add(std::move(handler));
}

bool CoroutineBase::remove_switch_handler(const backend::SwitchHandler& handler) {
  return extras_ != nullptr && extras_->switch_handlers.remove(handler);
}

backend::LocalContext& CoroutineBase::local() { return extras().local; }

std::shared_ptr<void>& CoroutineBase::slot(backend::SlotKey key) {
  auto& slots = extras().slots;
  if (slots.size() <= key.index) slots.resize(key.index + 1);
  return slots[key.index];
}

CoroutineBase::Extras& CoroutineBase::extras() {
  if (extras_ == nullptr) extras_ = std::make_unique<Extras>();
  return *extras_;
}

void CoroutineBase::call_off_limits() noexcept {
  if (limit() == nullptr) return;
  detail::Limit::call_off(limit(), nullptr);
  unset(kLimitDue);
}

detail::Shelter CoroutineBase::shelter() const noexcept {
  FERMATA_ASSERT(context_ != nullptr);
  const auto elsewhere = static_cast<int>(context_->ambient.uncaught_exceptions);
  const bool runs = runtime().current() == this;
  return {is_protected() ? protect_depth_ : 0, destructor_depth_,
          runs ? std::uncaught_exceptions() : elsewhere};
}

std::exception_ptr CoroutineBase::take_pending_cancellation() {
  const bool forced = has(kForced);
  if (!forced && (is_protected() || !stored_error_)) return nullptr;
  call_off_limits();
  if (stored_error_) return std::exchange(stored_error_, nullptr);
  return std::make_exception_ptr(
      Cancellation("Coroutine must end: it has ignored its cancellation"));
}

std::exception_ptr CoroutineBase::error_for_waiter(const std::exception_ptr& error) {
  if (extras_ != nullptr && extras_->awaited_error.kept()) return extras_->awaited_error.kept();
  if (!detail::AwaitedError::is_for_the_work_alone(error)) return error;
  return extras().awaited_error.make(error, [this] {
    return name_.empty() ? label() : fmt::format("coroutine '{}'", name_.view());
  });
}

std::string CoroutineBase::info() const {
  std::string text = fmt::format("Coroutine {}", id_);
  if (!name_.empty()) text += fmt::format(" '{}'", name_.view());
  text += " spawned at " + spawn_place_.without_function();
  if (is_closed()) {
    text += ", finished";
  } else if (!is_started()) {
    text += ", not started";
  } else if (is_suspended()) {
    FERMATA_ASSERT(waker_.place != nullptr);
    text += ", suspended at " + waker_.place->text();
  } else {
    text += ", running";
  }
  return text;
}

std::vector<std::string> CoroutineBase::awaiting() const {
  std::vector<std::string> events;
  for (const backend::Registration* entry = waker_.first(); entry != nullptr;
       entry = entry->next()) {
    events.push_back(entry->source().info());
  }
  return events;
}

void CoroutineBase::dispose() noexcept {
  FERMATA_ASSERT(scope_ == nullptr);
  Runtime& owner = runtime();
  if (has(kOrphaned) && !exception_caught()) [[unlikely]] {
    owner.report_unhandled(outcome_.error);
  }
  const std::size_t bytes = block_bytes_;
  if (!is_closed()) [[unlikely]] {  // It was never spawned.
    drop_body();
    shut();  // Whoever is told of it sees a whole coroutine.
  }
  this->~CoroutineBase();
  owner.blocks().release(this, bytes);
}

}  // namespace fermata
