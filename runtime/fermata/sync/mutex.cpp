// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/mutex.hpp"

#include <fmt/format.h>

#include <exception>

#include "fermata/base/assert.hpp"
#include "fermata/core/switching.hpp"

namespace fermata {

void Mutex::lock_in_turn(const CoroutineBase& me, const WaitOptions& options,
                         const SourcePlace& place) {
  touched();
  detail::check_token(options);
  if (holder_.is(me)) {
    throw misuse(fmt::format("lock at {}:{} by its holder, {}: a mutex is not recursive",
                             place.file, place.line, holder_.info(runtime())));
  }
  if (!is_free()) {
    detail::Waiter waiter(line_);
    wait_turn(waiter, options, place, [this](bool granted) {
      if (granted) line_.grant();
    });
  }
  FERMATA_ASSERT(holder_.nobody());
  holder_.set(me, place);
}

void Mutex::pass_on() {
  FERMATA_ASSERT(holder_.nobody());
  touched();
  if (line_.waiting() > 0) line_.grant();
}

// While an exception is on its way a throw would end the program: then it is the run's.
void Mutex::refuse_unlock(const CoroutineBase& me) const {
  FERMATA_ASSERT(!holder_.is(me));
  if (detail::unwinding(&me)) return;
  const UsageError error = misuse(
      fmt::format("unlock by '{}': expected its holder, {}", me.label(), holder_.info(runtime())));
  if (std::uncaught_exceptions() == 0) throw error;
  runtime().report_unhandled(std::make_exception_ptr(error));
}

void Mutex::explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const {
  Primitive::explain_wait(facts, waiter);
  holder_.explain(facts);
}

std::string Mutex::info() const {
  const std::string state = holder_.nobody() ? "not held" : "held by " + holder_.info(runtime());
  return fmt::format("{}, {}{}", title(), state, line_.info());
}

}  // namespace fermata
