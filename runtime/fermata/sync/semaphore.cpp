// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/semaphore.hpp"

#include <fmt/format.h>

#include <limits>

#include "fermata/base/assert.hpp"
#include "fermata/core/switching.hpp"

namespace fermata {

class Semaphore::Request final : public detail::Waiter {
 public:
  Request(detail::WaitQueue& line, std::size_t wanted) : Waiter(line), count(wanted) {
    FERMATA_ASSERT(count > 0);
  }
  const std::size_t count;
};

void Semaphore::acquire(std::size_t count, const WaitOptions& options, const SourcePlace& place) {
  require_some("acquire", count);
  detail::check_token(options);
  if (can_take(count)) {
    available_ -= count;
    return log_wait(backend::WaitAct::Took, &place, count);
  }
  Request request(line_, count);
  // One that wanted many and leaves may have been all that kept others waiting.
  wait_turn(request, options, place, [&](bool granted) {
    if (granted) available_ += count;
    serve();
  });
  log_wait(backend::WaitAct::Took, &place, count);
}

bool Semaphore::try_acquire(std::size_t count, const SourcePlace& place) {
  require_some("try_acquire", count);
  const bool taken = can_take(count);
  if (taken) available_ -= count;
  log_wait(taken ? backend::WaitAct::Took : backend::WaitAct::Refused, &place, taken ? count : 0);
  return taken;
}

void Semaphore::release(std::size_t count, const SourcePlace& place) {
  require_some("release", count);
  log_wait(backend::WaitAct::Gave, &place, count);
  if (count > std::numeric_limits<std::size_t>::max() - available_) {
    throw misuse(fmt::format("release of {} permits: there are {} already", count, available_));
  }
  touched();
  available_ += count;
  serve();
}

void Semaphore::require_some(const char* operation, std::size_t count) const {
  if (count > 0) return;
  throw misuse(fmt::format("{} of 0 permits: expected one or more", operation));
}

void Semaphore::serve() {
  for (;;) {
    const auto* next = static_cast<const Request*>(line_.oldest());
    FERMATA_ASSERT(next == nullptr || next->count > 0);
    if (next == nullptr || next->count > available_) return;
    available_ -= next->count;
    line_.grant();
  }
}

void Semaphore::explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const {
  Primitive::explain_wait(facts, waiter);
  facts.state(fmt::format("{} available", available_));
}

std::string Semaphore::info() const {
  return fmt::format("{}, {} available{}", title(), available_, line_.info());
}

}  // namespace fermata
