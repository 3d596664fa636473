// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a program claims about itself, checked in every run and counted over an exploration. The
// message is a string literal and the claim's identity; a line may move.
//
//   FERMATA_ALWAYS(left >= 0, "no more is sold than there is", "left", left);
//   FERMATA_UNREACHABLE("a reply without a request", "id", id);
//   FERMATA_SOMETIMES(retries > 1, "a request is retried twice");
//   FERMATA_REACHABLE("the log is compacted");
//   FERMATA_EVENTUALLY(5s, replicas_agree(), "the replicas agree");
//   FERMATA_ALWAYS_LE(queued, limit, "the queue stays short");    // also LT GE GT EQ NE
//   FERMATA_SOMETIMES_GE(open, 3, "three sessions at once");      // likewise
//
// Production   ALWAYS and UNREACHABLE are plain checks, in every build: they throw AssertionFailed,
//              or abort where RuntimeOptions::abort_on_failed_assertion says so. The others cost a
//              null pointer test; their conditions are not evaluated.
// Simulation   An ALWAYS that does not hold is a safety failure and ends the run; it throws as
//              well, unless an exception is under way. SOMETIMES and REACHABLE are obligations:
//              docs/guide/assertions.md. What is done outside of every node (World::at) is not
//              counted and fails as in production.
// Details      Names and values in turn, evaluated only when the claim has failed. A value is a
//              number, text, a span of time, or what a to_string found by its type makes text of.
// EVENTUALLY   is a declaration, and watches until its scope is left: at the end of each step the
//              condition is looked at, and must have held by the time that the span has passed in
//              virtual time; or, when the scope is left before, by then. Leaving by an exception
//              counts for nothing. The condition only reads; it must not suspend. When it never
//              came the run fails, class liveness.
// Numbers      Integers of any width and sign, compared by value, and spans of time.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "fermata/base/intrusive_list.hpp"
#include "fermata/base/text_of.hpp"
#include "fermata/base/time.hpp"
#include "fermata/core/assertion_site.hpp"
#include "fermata/core/observer.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata::detail {

/// The observer of the calling code; null in production.
[[nodiscard]] inline backend::Observer* present_observer() noexcept {
  const Runtime* runtime = current_runtime_pointer;
  return runtime == nullptr ? nullptr : runtime->kernel().observer;
}

/// Throws AssertionFailed, aborts, or, when an observer has taken note and nothing may be thrown,
/// returns.
[[gnu::cold]] void assertion_failed(const backend::AssertionSite& site, const std::string& details);

inline void note_assertion(const backend::AssertionSite& site, bool holds, std::int64_t slack = 0) {
  if (backend::Observer* const observer = present_observer()) [[unlikely]] {
    observer->reached(site, holds, slack);
  }
}

// --- details ---

[[nodiscard]] inline std::string details_of() { return {}; }

/// "name = value, name = value".
template <class Value, class... More>
[[nodiscard]] std::string details_of(std::string_view name, const Value& value,
                                     const More&... more) {
  static_assert(sizeof...(more) % 2 == 0, "details are names and values in turn");
  std::string text = std::string(name) + " = " + text_of(value);
  if constexpr (sizeof...(more) > 0) text += ", " + details_of(more...);
  return text;
}

// --- numbers ---

__extension__ typedef __int128 Wide;

template <class T>
[[nodiscard]] constexpr Wide wide_of(const T& number) noexcept {
  if constexpr (std::is_convertible_v<const T&, std::chrono::nanoseconds>) {
    return std::chrono::nanoseconds(number).count();
  } else {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>,
                  "expected an integer or a span of time; for anything else use FERMATA_ALWAYS");
    return number;
  }
}

/// How far two numbers are inside a bound: it holds when this is 0 or more.
struct Slack {
  [[nodiscard]] static constexpr Wide le(Wide a, Wide b) noexcept { return b - a; }
  [[nodiscard]] static constexpr Wide lt(Wide a, Wide b) noexcept { return b - a - 1; }
  [[nodiscard]] static constexpr Wide ge(Wide a, Wide b) noexcept { return a - b; }
  [[nodiscard]] static constexpr Wide gt(Wide a, Wide b) noexcept { return a - b - 1; }
  [[nodiscard]] static constexpr Wide eq(Wide a, Wide b) noexcept { return a < b ? a - b : b - a; }
  [[nodiscard]] static constexpr Wide ne(Wide a, Wide b) noexcept { return -eq(a, b) - 1; }

  [[nodiscard]] static constexpr std::int64_t clamped(Wide slack) noexcept {
    using Limits = std::numeric_limits<std::int64_t>;
    return static_cast<std::int64_t>(std::clamp<Wide>(slack, Limits::min(), Limits::max()));
  }
};

/// "1 > 0": the two operands as they were.
template <class A, class B>
[[nodiscard]] std::string operands_of(const A& a, const B& b, const std::string& details) {
  const std::string text = "left = " + text_of(a) + ", right = " + text_of(b);
  return details.empty() ? text : text + ", " + details;
}

// --- eventually ---

/// Something that must come to hold while it lives.
class Pledge {
 public:
  Pledge(const Pledge&) = delete;
  Pledge& operator=(const Pledge&) = delete;

  [[nodiscard]] const backend::AssertionSite& site() const noexcept { return site_; }
  [[nodiscard]] Duration within() const noexcept { return within_; }
  /// The observer that was told of it; null in production.
  [[nodiscard]] backend::Observer* observer() const noexcept { return observer_; }

  /// For whoever watches: when the time is over; whether it is settled one way or the other.
  Instant deadline;
  bool settled = false;

  virtual bool holds() = 0;

 protected:
  Pledge(const backend::AssertionSite& site, Duration within) noexcept
      : site_(site), within_(within), observer_(present_observer()) {}
  ~Pledge() = default;

 private:
  const backend::AssertionSite& site_;
  Duration within_;
  backend::Observer* observer_;
  Link<Pledge> link_;

 public:
  using List = IntrusiveList<Pledge, &Pledge::link_>;
};

template <class Condition>
class PledgeOf final : public Pledge {
 public:
  PledgeOf(const backend::AssertionSite& site, Duration within, Condition condition)
      : Pledge(site, within), condition_(std::move(condition)) {
    if (observer() != nullptr) [[unlikely]] {
      exceptions_ = std::uncaught_exceptions();
      observer()->pledged(*this);
    }
  }
  ~PledgeOf() {
    if (observer() != nullptr) [[unlikely]] {
      observer()->end_of_pledge(*this, std::uncaught_exceptions() > exceptions_);
    }
  }

  bool holds() override { return static_cast<bool>(condition_()); }

 private:
  Condition condition_;
  int exceptions_ = 0;
};

}  // namespace fermata::detail

#define FERMATA_DETAIL_JOIN2(a, b) a##b
#define FERMATA_DETAIL_JOIN(a, b) FERMATA_DETAIL_JOIN2(a, b)

/// Declares what describes the site to SiteOf. The empty literal before the message refuses
/// anything that is not a literal. No comma stands outside of parentheses, so that an assertion
/// may be an argument of another macro.
#define FERMATA_DETAIL_SITE(Name, Kind, is_numeric, text, condition_text)                    \
  struct Name {                                                                              \
    static constexpr ::fermata::backend::AssertionSite site() noexcept {                     \
      return ::fermata::detail::site_of(::fermata::backend::AssertionKind::Kind, is_numeric, \
                                        "" text, condition_text, __FILE__, __LINE__);        \
    }                                                                                        \
  }

#define FERMATA_DETAIL_HERE(Name) ::fermata::detail::SiteOf<Name>::get()

#define FERMATA_ALWAYS(condition, message, ...)                                         \
  do {                                                                                  \
    FERMATA_DETAIL_SITE(FermataSite, Always, false, message, #condition);               \
    const bool fermata_holds = static_cast<bool>(condition);                            \
    ::fermata::detail::note_assertion(FERMATA_DETAIL_HERE(FermataSite), fermata_holds); \
    if (!fermata_holds) [[unlikely]] {                                                  \
      ::fermata::detail::assertion_failed(FERMATA_DETAIL_HERE(FermataSite),             \
                                          ::fermata::detail::details_of(__VA_ARGS__));  \
    }                                                                                   \
  } while (false)

#define FERMATA_UNREACHABLE(message, ...)                                            \
  do {                                                                               \
    FERMATA_DETAIL_SITE(FermataSite, Unreachable, false, message, "");               \
    ::fermata::detail::note_assertion(FERMATA_DETAIL_HERE(FermataSite), false);      \
    ::fermata::detail::assertion_failed(FERMATA_DETAIL_HERE(FermataSite),            \
                                        ::fermata::detail::details_of(__VA_ARGS__)); \
  } while (false)

#define FERMATA_SOMETIMES(condition, message)                                                   \
  do {                                                                                          \
    FERMATA_DETAIL_SITE(FermataSite, Sometimes, false, message, #condition);                    \
    if (::fermata::backend::Observer* const fermata_observer =                                  \
            ::fermata::detail::present_observer()) [[unlikely]] {                               \
      fermata_observer->reached(FERMATA_DETAIL_HERE(FermataSite), static_cast<bool>(condition), \
                                0);                                                             \
    }                                                                                           \
  } while (false)

#define FERMATA_REACHABLE(message)                                             \
  do {                                                                         \
    FERMATA_DETAIL_SITE(FermataSite, Reachable, false, message, "");           \
    ::fermata::detail::note_assertion(FERMATA_DETAIL_HERE(FermataSite), true); \
  } while (false)

#define FERMATA_EVENTUALLY(within, condition, message)                                        \
  FERMATA_DETAIL_SITE(FERMATA_DETAIL_JOIN(FermataSite, __LINE__), Eventually, false, message, \
                      #condition);                                                            \
  const ::fermata::detail::PledgeOf FERMATA_DETAIL_JOIN(fermata_pledge_, __LINE__)(           \
      FERMATA_DETAIL_HERE(FERMATA_DETAIL_JOIN(FermataSite, __LINE__)), (within),              \
      [&] { return (condition); })

#define FERMATA_DETAIL_ALWAYS(compare, sign, a, b, message, ...)                            \
  do {                                                                                      \
    FERMATA_DETAIL_SITE(FermataSite, Always, true, message, #a " " sign " " #b);            \
    const auto& fermata_a = (a);                                                            \
    const auto& fermata_b = (b);                                                            \
    const ::fermata::detail::Wide fermata_slack = ::fermata::detail::Slack::compare(        \
        ::fermata::detail::wide_of(fermata_a), ::fermata::detail::wide_of(fermata_b));      \
    ::fermata::detail::note_assertion(FERMATA_DETAIL_HERE(FermataSite), fermata_slack >= 0, \
                                      ::fermata::detail::Slack::clamped(fermata_slack));    \
    if (fermata_slack < 0) [[unlikely]] {                                                   \
      ::fermata::detail::assertion_failed(                                                  \
          FERMATA_DETAIL_HERE(FermataSite),                                                 \
          ::fermata::detail::operands_of(fermata_a, fermata_b,                              \
                                         ::fermata::detail::details_of(__VA_ARGS__)));      \
    }                                                                                       \
  } while (false)

#define FERMATA_DETAIL_SOMETIMES(compare, sign, a, b, message)                         \
  do {                                                                                 \
    FERMATA_DETAIL_SITE(FermataSite, Sometimes, true, message, #a " " sign " " #b);    \
    if (::fermata::backend::Observer* const fermata_observer =                         \
            ::fermata::detail::present_observer()) [[unlikely]] {                      \
      const ::fermata::detail::Wide fermata_slack = ::fermata::detail::Slack::compare( \
          ::fermata::detail::wide_of(a), ::fermata::detail::wide_of(b));               \
      fermata_observer->reached(FERMATA_DETAIL_HERE(FermataSite), fermata_slack >= 0,  \
                                ::fermata::detail::Slack::clamped(fermata_slack));     \
    }                                                                                  \
  } while (false)

#define FERMATA_ALWAYS_LE(a, b, ...) FERMATA_DETAIL_ALWAYS(le, "<=", a, b, __VA_ARGS__)
#define FERMATA_ALWAYS_LT(a, b, ...) FERMATA_DETAIL_ALWAYS(lt, "<", a, b, __VA_ARGS__)
#define FERMATA_ALWAYS_GE(a, b, ...) FERMATA_DETAIL_ALWAYS(ge, ">=", a, b, __VA_ARGS__)
#define FERMATA_ALWAYS_GT(a, b, ...) FERMATA_DETAIL_ALWAYS(gt, ">", a, b, __VA_ARGS__)
#define FERMATA_ALWAYS_EQ(a, b, ...) FERMATA_DETAIL_ALWAYS(eq, "==", a, b, __VA_ARGS__)
#define FERMATA_ALWAYS_NE(a, b, ...) FERMATA_DETAIL_ALWAYS(ne, "!=", a, b, __VA_ARGS__)

#define FERMATA_SOMETIMES_LE(a, b, message) FERMATA_DETAIL_SOMETIMES(le, "<=", a, b, message)
#define FERMATA_SOMETIMES_LT(a, b, message) FERMATA_DETAIL_SOMETIMES(lt, "<", a, b, message)
#define FERMATA_SOMETIMES_GE(a, b, message) FERMATA_DETAIL_SOMETIMES(ge, ">=", a, b, message)
#define FERMATA_SOMETIMES_GT(a, b, message) FERMATA_DETAIL_SOMETIMES(gt, ">", a, b, message)
#define FERMATA_SOMETIMES_EQ(a, b, message) FERMATA_DETAIL_SOMETIMES(eq, "==", a, b, message)
#define FERMATA_SOMETIMES_NE(a, b, message) FERMATA_DETAIL_SOMETIMES(ne, "!=", a, b, message)
