// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/sync/semaphore.hpp"

#include <fmt/format.h>

#include <limits>

namespace fermata {

class Semaphore::Request final : public detail::Waiter {
 public:
  Request(detail::WaitQueue& line, std::size_t wanted) : Waiter(line), count(wanted) {}
  const std::size_t count;
};

void Semaphore::acquire(std::size_t count, const WaitOptions& options, const SourcePlace& place) {
  require_some("acquire", count);
  detail::check_token(options);
  if (can_take(count)) {
    available_ -= count;
    return;
  }
  Request request(line_, count);
  // One that wanted many and leaves may have been all that kept others waiting.
  wait_turn(request, options, place, [&](bool granted) {
    if (granted) available_ += count;
    serve();
  });
}

bool Semaphore::try_acquire(std::size_t count) {
  require_some("try_acquire", count);
  if (!can_take(count)) return false;
  available_ -= count;
  return true;
}

void Semaphore::release(std::size_t count) {
  require_some("release", count);
  if (count > std::numeric_limits<std::size_t>::max() - available_) {
    throw misuse(fmt::format("release of {} permits: there are {} already", count, available_));
  }
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
    if (next == nullptr || next->count > available_) return;
    available_ -= next->count;
    line_.grant();
  }
}

std::string Semaphore::info() const {
  return fmt::format("{}, {} available{}", title(), available_, line_.info());
}

}  // namespace fermata
