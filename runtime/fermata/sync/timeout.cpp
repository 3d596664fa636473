// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/timeout.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata {

namespace {

Duration require_positive(Duration span) {
  if (span > Duration::zero()) return span;
  throw UsageError(fmt::format("timeout of {} ns: expected more than zero", span.count()));
}

}  // namespace

namespace backend {

TimeoutEvent::TimeoutEvent(Runtime& runtime, Duration span)
    : Timer(runtime, require_positive(span)), deadline_(runtime.now() + span) {
  set_notify_handler(&TimeoutEvent::turn_into_error);
}

void TimeoutEvent::cancel(std::exception_ptr reason) {
  FERMATA_REQUIRE(!reason || is_cancellation(reason), "cancel: the reason must be a Cancellation");
  if (is_closed()) return;
  FERMATA_ASSERT(!cancelled_);
  if (!reason) reason = std::make_exception_ptr(Cancellation("Timeout has been cancelled"));
  cancelled_ = true;
  outcome_.error = std::move(reason);
  notify_and_close({});
}

bool TimeoutEvent::request_cancel(const std::exception_ptr& reason) {
  cancel(reason);
  return true;
}

std::exception_ptr TimeoutEvent::error_for_waiter(const std::exception_ptr& error) {
  return cancelled_ ? awaited_error_.of(error, [this] { return info(); }) : timeout_error();
}

std::string TimeoutEvent::info() const {
  return fmt::format("Timeout #{} ({}ms)", serial(),
                     std::chrono::ceil<std::chrono::milliseconds>(timeout()).count());
}

void TimeoutEvent::arm() {
  if (runtime().now() < deadline_) return arm_until(deadline_);
  notify_and_close({});
}

void TimeoutEvent::turn_into_error(Event& event, const Outcome&) {
  auto& self = static_cast<TimeoutEvent&>(event);
  if (!self.cancelled_) self.outcome_.error = self.timeout_error();
  FERMATA_ASSERT(self.outcome_.error != nullptr);
  self.notify_from_handler(self.outcome_);
}

}  // namespace backend

Ref<backend::TimeoutEvent> make_timeout(Duration span) {
  return Ref<backend::TimeoutEvent>::adopt(*new backend::TimeoutEvent(current_runtime(), span));
}

}  // namespace fermata
