// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/select_wait.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/wait_facts.hpp"

namespace fermata::detail {

SelectPlace::SelectPlace(SelectWait& wait) : wait_(wait) { wait.places_.push_back(*this); }

SelectPlace::~SelectPlace() { wait_.places_.remove(*this); }

SelectEvent::SelectEvent(SelectWait& wait, Event& event) : SelectPlace(wait) {
  FERMATA_REQUIRE(&event != &current_coroutine(), "select: a coroutine cannot await itself");
  FERMATA_REQUIRE(
      !event.is_closed() || event.replay() != nullptr,
      "select: the event has ended without an outcome: expected one that can still fire");
  set_event(event);
  event.mark_result_used();
}

// One that is closed keeps its outcome, and has been seen before the select parks.
void SelectEvent::start_place() {
  if (backend::Callback::event() != nullptr) start_event();
}

void SelectEvent::let_go_of_place() noexcept { let_go(); }

void SelectEvent::run(Event& event, const Outcome& outcome) {
  FERMATA_ASSERT(&event == &this->event());
  fired_ = true;
  error_ = error_in(outcome);
  wait().wake();
}

void SelectEvent::take_outcome() {
  FERMATA_ASSERT(is_due());
  FERMATA_ASSERT(backend::Callback::event() == nullptr);
  if (event().replay() != nullptr) return take_kept_outcome(event());
  if (error_) std::rethrow_exception(error_);
}

SelectWait::~SelectWait() {
  FERMATA_ASSERT(places_.empty());
  FERMATA_ASSERT(loop_ref_count() == 0);
  shut();
}

void SelectWait::park(const WaitOptions& options, const SourcePlace& place) {
  FERMATA_ASSERT(!places_.empty());
  FERMATA_ASSERT(loop_ref_count() == 0);
  require_no_meeting_with_itself();
  touched();
  wait_with(*this, options, place);
  FERMATA_ASSERT(loop_ref_count() == 0);
  touched();
}

void SelectWait::require_no_meeting_with_itself() const {
  for (const SelectPlace* each = places_.first(); each != nullptr;
       each = SelectPlace::List::after(*each)) {
    if (!each->is_exclusive()) continue;
    const SelectPlace* other = SelectPlace::List::after(*each);
    while (other != nullptr && &other->awaited() != &each->awaited())
      other = SelectPlace::List::after(*other);
    if (other == nullptr) continue;
    throw UsageError(
        fmt::format("select: two branches wait for {}: expected one, since its capacity is 0",
                    each->awaited().info_with_place()));
  }
}

// An event may answer while it is started, which wakes the coroutine and lets go of all.
void SelectWait::arm() {
  try {
    for (SelectPlace* each = places_.first(); each != nullptr;
         each = SelectPlace::List::after(*each))
      each->subscribe_place();
    for (SelectPlace* each = places_.first(); each != nullptr;
         each = SelectPlace::List::after(*each))
      each->start_place();
  } catch (...) {
    disarm();
    throw;
  }
}

void SelectWait::disarm() noexcept {
  for (SelectPlace* each = places_.first(); each != nullptr; each = SelectPlace::List::after(*each))
    each->let_go_of_place();
}

void SelectWait::explain_wait(backend::WaitFacts& facts, const CoroutineBase& /*waiter*/) const {
  facts.is("select", {}, nullptr);
  facts.state(fmt::format("{} branches, none is due", places_.size()));
  for (const SelectPlace* each = places_.first(); each != nullptr;
       each = SelectPlace::List::after(*each))
    facts.accepts(each->awaited());
}

std::string SelectWait::info() const {
  std::string text = "select";
  const char* before = ": ";
  for (const SelectPlace* each = places_.first(); each != nullptr;
       each = SelectPlace::List::after(*each)) {
    text += std::exchange(before, " or ");
    text += each->awaited().info();
  }
  return text;
}

void take_kept_outcome(Event& event) {
  FERMATA_ASSERT(event.is_closed());
  const Outcome* const outcome = event.replay();
  FERMATA_REQUIRE(outcome != nullptr, "select: the event has ended without an outcome");
  event.touched();
  if (!outcome->error) return;
  event.mark_exception_caught();
  std::rethrow_exception(event.error_for_waiter(outcome->error));
}

}  // namespace fermata::detail
