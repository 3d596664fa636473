// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/condition.hpp"

#include <fmt/format.h>

#include <exception>

#include "fermata/base/assert.hpp"
#include "fermata/base/exception_ptr_cast.hpp"
#include "fermata/core/switching.hpp"

namespace fermata {

namespace {

/// Protection is taken away in each round of the end of a run; there are as many.
constexpr int kAttempts = 3;

/// Whether the coroutine itself was asked to stop; a token that has fired ends one wait only.
bool stops_coroutine(const std::exception_ptr& error) {
  return is_cancellation(error) && detail::exception_ptr_cast<OperationCancelled>(error) == nullptr;
}

/// What a wait ends with that ended with `first`, and then `later` while it locked again.
std::exception_ptr combined(const std::exception_ptr& first, const std::exception_ptr& later) {
  if (!first || is_forced_unwind(later)) return later;
  if (!later || stops_coroutine(first)) return first;
  return link_previous(later, first);
}

}  // namespace

void Condition::wait(Mutex& mutex, const WaitOptions& options, const SourcePlace& place) {
  detail::check_token(options);
  if (!mutex.is_held_by_caller()) {
    throw misuse(fmt::format("wait at {}:{} by '{}' without the mutex: {}", place.file, place.line,
                             detail::caller().label(), mutex.info()));
  }
  if (options.timeout == Duration::zero()) detail::Deadline(options).throw_timeout();
  detail::Waiter me(line_);
  const auto pass_on = [&] {
    touched();
    if (me.in_line() && me.leave()) line_.grant();
  };
  std::exception_ptr end;
  mutex.unlock();
  FERMATA_ASSERT(!mutex.is_held_by_caller());
  try {
    me.park(*this, options, place);
  } catch (...) {
    end = std::current_exception();
    pass_on();
  }
  if (!is_forced_unwind(end)) end = combined(end, lock_again(mutex, place));
  FERMATA_ASSERT(end != nullptr || mutex.is_held_by_caller());
  if (!end) return;
  pass_on();
  std::rethrow_exception(end);
}

// A cancellation that arrives meanwhile is the result; at the end of a run it may be that the mutex
// could not be had.
std::exception_ptr Condition::lock_again(Mutex& mutex, const SourcePlace& place) {
  std::exception_ptr end;
  for (int attempt = 0; attempt < kAttempts && !mutex.is_held_by_caller(); ++attempt) {
    try {
      protect([&] { mutex.lock({}, place); });
    } catch (...) {
      end = combined(end, std::current_exception());
      if (is_forced_unwind(end)) break;
    }
  }
  return end;
}

std::string Condition::info() const { return title() + line_.info(); }

}  // namespace fermata
