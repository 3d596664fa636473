// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/once.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/core/switching.hpp"

namespace fermata {

bool Once::begin(const WaitOptions& options, const SourcePlace& place) {
  detail::check_token(options);
  const CoroutineBase& me = detail::caller();
  if (runner_.is(me)) {
    throw misuse(fmt::format("call at {}:{} from inside, by {}: it would wait for itself",
                             place.file, place.line, runner_.info(runtime())));
  }
  if (!runner_.nobody() || line_.granted() > 0) {
    detail::Waiter waiter(line_);
    wait_turn(waiter, options, place, [this](bool granted) {
      if (granted && !done_) line_.grant();
    });
    if (done_) return false;
  }
  FERMATA_ASSERT(runner_.nobody());
  FERMATA_ASSERT(!done_);
  runner_.set(me, place);
  return true;
}

void Once::end(bool success) {
  FERMATA_ASSERT(!runner_.nobody());
  FERMATA_ASSERT(!done_);
  touched();
  runner_.clear();
  done_ = success;
  while (line_.grant() && success) {
  }
}

void Once::explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const {
  Primitive::explain_wait(facts, waiter);
  runner_.explain(facts);
}

std::string Once::info() const {
  std::string state = "not done";
  if (done_) state = "done";
  if (!runner_.nobody()) state = "being done by " + runner_.info(runtime());
  return fmt::format("{}, {}{}", title(), state, line_.info());
}

}  // namespace fermata
