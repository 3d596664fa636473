// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/wait_limits.hpp"

#include <array>
#include <chrono>

namespace fermata::properties {
namespace {

using std::chrono::milliseconds;

enum class Kind : std::uint8_t { ForEver, ForSome, AtOnce, Token, Deadline, Coroutine };

constexpr std::array<std::string_view, 6> kTexts = {
    "", " with a timeout", " at once", " with a token", " by a deadline", " with a coroutine"};

Kind kind_of(std::uint8_t draw) {
  constexpr std::array<Kind, kLimitDraws / 2> kLimits = {
      Kind::ForSome, Kind::ForSome,  Kind::ForSome,  Kind::AtOnce,
      Kind::Token,   Kind::Deadline, Kind::Deadline, Kind::Coroutine};
  const std::size_t place = draw % kLimitDraws;
  return place < kLimits.size() ? Kind::ForEver : kLimits[place - kLimits.size()];
}

Ref<PlainEvent> make_token() {
  return Ref<PlainEvent>::adopt(*new PlainEvent(current_runtime(), true));
}

// A third of them fail, a third are cancelled.
void serve_as_token(std::uint8_t number) {
  delay(milliseconds(number));
  if (number % 3 == 1) throw PlannedError(number);
  if (number % 3 == 2) {
    current_coroutine().cancel();
    suspend();
  }
}

}  // namespace

std::string_view limit_text(std::uint8_t draw) {
  return kTexts[static_cast<std::size_t>(kind_of(draw))];
}

bool has_fired(const Event* token) {
  return token != nullptr && token->is_closed() && !token->void_as_token();
}

WaitLimits::~WaitLimits() {
  for (const auto& each : coroutines_) each->mark_exception_caught();
}

WaitOptions WaitLimits::options(std::uint8_t draw, std::uint8_t number) {
  switch (kind_of(draw)) {
    case Kind::ForEver:
      return {};
    case Kind::ForSome:
      return {.timeout = milliseconds(1 + number)};
    case Kind::AtOnce:
      return {.timeout = Duration::zero()};
    case Kind::Token:
      return {.token = token()};
    case Kind::Deadline:
      return {.token = deadline(number)};
    case Kind::Coroutine:
      return {.token = coroutine(number)};
  }
  return {};
}

void WaitLimits::fire(std::uint8_t number) {
  if (number % 4 == 3 && !deadlines_.empty()) return deadlines_.back()->cancel();
  if (tokens_.empty()) return;
  const auto fired = tokens_.back();
  tokens_.push_back(make_token());
  fired->complete();
}

Event* WaitLimits::token() {
  if (tokens_.empty()) tokens_.push_back(make_token());
  return tokens_.back().get();
}

Event* WaitLimits::deadline(std::uint8_t number) {
  const bool over = !deadlines_.empty() && deadlines_.back()->is_completed();
  if (deadlines_.empty() || (over && number % 2 == 0)) {
    deadlines_.push_back(make_timeout(milliseconds(1 + number)));
  }
  return deadlines_.back().get();
}

Event* WaitLimits::coroutine(std::uint8_t number) {
  const bool over = !coroutines_.empty() && coroutines_.back()->is_closed();
  if (coroutines_.empty() || (over && number % 2 == 0)) {
    coroutines_.push_back(spawn("token", [number] { serve_as_token(number); }));
  }
  return &coroutines_.back().event();
}

}  // namespace fermata::properties
