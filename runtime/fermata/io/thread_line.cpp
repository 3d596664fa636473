// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/thread_line.hpp"

#include <exception>

#include "fermata/base/assert.hpp"

namespace fermata::detail {

ThreadLine::Turn ThreadLine::wait(Lock& held, const char* what, const backend::WaitSubject& subject,
                                  const WaitOptions& options, const SourcePlace& place) {
  FERMATA_ASSERT(held.owns_lock());
  const Ref<backend::TriggerHandle> trigger = current_runtime().reactor().triggers().make();
  trigger->set_name(Name(std::string_view(what)));
  trigger->stand_for(subject);
  Waiter me{{}, trigger.get()};
  waiting_.push_back(me);
  held.unlock();
  std::exception_ptr given_up;
  try {
    fermata::wait(*trigger, options, place);
  } catch (const OperationCancelled&) {
    given_up = std::current_exception();
  } catch (const Timeout&) {
    given_up = std::current_exception();
  } catch (...) {
    held.lock();
    leave(me);
    throw;
  }
  held.lock();
  leave(me);
  if (me.state == Waiter::State::Waiting) {
    if (given_up) std::rethrow_exception(given_up);
    FERMATA_ASSERT(Scheduler::unwinding(current_coroutine()));  // Nobody is left.
    throw ForcedUnwind{};
  }
  return me.state == Waiter::State::Granted ? Turn::Granted : Turn::Failed;
}

void ThreadLine::leave(Waiter& waiter) noexcept {
  if (waiter.state == Waiter::State::Failed) return;
  (waiter.state == Waiter::State::Granted ? granted_ : waiting_).remove(waiter);
}

void ThreadLine::grant() noexcept {
  FERMATA_ASSERT(!waiting_.empty());
  Waiter& oldest = *waiting_.first();
  waiting_.remove(oldest);
  granted_.push_back(oldest);
  FERMATA_ASSERT(oldest.state == Waiter::State::Waiting);
  oldest.state = Waiter::State::Granted;
  oldest.trigger->fire();
}

void ThreadLine::fail(Line& line) noexcept {
  while (Waiter* const oldest = line.first()) {
    FERMATA_ASSERT(oldest->state != Waiter::State::Failed);
    line.remove(*oldest);
    oldest->state = Waiter::State::Failed;
    oldest->trigger->fire();
  }
}

void ThreadLine::fail_waiting() noexcept { fail(waiting_); }

void ThreadLine::fail_all() noexcept {
  fail(waiting_);
  fail(granted_);
}

}  // namespace fermata::detail
