// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/barrier.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/core/switching.hpp"

namespace fermata {

Barrier::Barrier(backend::GivenName name, std::size_t parties, Completion completion,
                 const SourcePlace& place)
    : Primitive("Barrier", std::move(name), place),
      parties_(parties),
      pending_(parties),
      completion_(std::move(completion)) {
  if (parties == 0) throw misuse("0 parties: expected one or more");
}

void Barrier::require_parties() const {
  if (parties_ == 0) throw misuse("arrival at a barrier that every party has dropped");
}

void Barrier::arrive_and_wait(const WaitOptions& options, const SourcePlace& place) {
  detail::check_token(options);
  touched();
  if (broken_) std::rethrow_exception(broken_);
  require_parties();
  log_wait(backend::WaitAct::Arrived, &place);
  FERMATA_ASSERT(pending_ > 0);
  if (--pending_ == 0) return complete();
  detail::Waiter me(line_);
  wait_turn(me, options, place, [this, round = round_](bool granted) {
    if (granted || round != round_ || detail::unwinding(runtime().current())) return;
    break_up(fmt::format("'{}' has arrived and left", detail::caller().label()),
             std::current_exception());
  });
}

void Barrier::arrive_and_drop() {
  touched();
  require_parties();
  FERMATA_ASSERT(pending_ <= parties_);
  --parties_;
  if (broken_) {
    pending_ = parties_;
  } else if (--pending_ == 0) {
    complete();
  }
}

void Barrier::complete() {
  FERMATA_ASSERT(pending_ == 0);
  if (completion_) {
    try {
      const detail::NoSuspend guard(runtime());
      completion_();
    } catch (...) {
      break_up("its completion has failed", std::current_exception());
      throw;
    }
  }
  ++phases_;
  ++round_;
  pending_ = parties_;
  while (line_.grant()) {
  }
}

void Barrier::break_up(const std::string& why, const std::exception_ptr& cause) {
  BrokenBarrier error(fmt::format("{}: broken, because {}", title(), why));
  error.set_previous(cause);
  broken_ = std::make_exception_ptr(std::move(error));
  ++round_;
  pending_ = parties_;
  line_.fail_all(broken_, false);
  FERMATA_ASSERT(line_.waiting() == 0);
}

void Barrier::reset() {
  touched();
  break_up("it was reset", nullptr);
  broken_ = nullptr;
}

void Barrier::explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const {
  Primitive::explain_wait(facts, waiter);
  facts.state(fmt::format("{} of {} parties arrived", arrived(), parties_));
}

std::string Barrier::info() const {
  const std::string state =
      broken_ ? "broken" : fmt::format("{} of {} parties arrived", arrived(), parties_);
  return fmt::format("{}, {}{}", title(), state, line_.info());
}

}  // namespace fermata
