// SPDX-License-Identifier: Apache-2.0
#pragma once

// The program's own log, line by line.
//
//   FERMATA_LOG("took ", taken, " of ", wanted, " after ", waited);
//   fermata::log_line(text);                    // a function to hand to any other logger
//
// Production   Lines go to RuntimeOptions::log_sink; without one to the standard error stream, with
//              the time (UTC) and the coroutine: "[2026-01-31T12:00:00.123Z 'worker'] took 3 of 4".
// Simulation   They are part of what the run prints: kept, and shown for the failing run only, each
//              with its virtual time, machine and coroutine, among the steps.
// Pieces       Text, characters, numbers, spans of time ("1500 us"), instants, enumerators (their
//              numbers), what a to_string found by its type makes text of, and what can be written
//              to a std::ostream.
// Outside      of Runtime::run() the text alone goes to the standard error stream.
// Threads      Any. Nothing here suspends.

#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "fermata/base/source_place.hpp"
#include "fermata/base/text_of.hpp"
#include "fermata/base/time.hpp"
#include "fermata/core/reactor.hpp"

namespace fermata {

/// One line of a program's log, as a sink is given it. Nothing in it outlives the call.
struct LogLine {
  std::string_view text;       // Without a newline at its end.
  std::string_view runtime;    // The name of the runtime.
  std::string_view coroutine;  // The name of the coroutine that logs; empty outside of any.
  WallTime time;
  SourcePlace place;  // Its line is 0 when nobody knows.
};

/// Writes a line into the program's log. A newline at the end of `text` is left out.
void log_line(std::string_view text);
/// Writes a line into the log, with the place that it comes from.
void log_line_from(const SourcePlace& place, std::string_view text);

namespace detail {

/// "1500 us": in the largest unit in which it is a whole number.
[[nodiscard]] std::string span_text(Duration span);

template <class T>
concept Streamable = requires(std::ostream& stream, const T& value) {
  stream << value;
};

template <class T>
[[nodiscard]] std::string log_text_of(const T& value) {
  if constexpr (std::is_same_v<T, char>) {
    return std::string(1, value);
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return std::string(std::string_view(value));
  } else if constexpr (std::is_convertible_v<const T&, Duration>) {
    return span_text(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, Instant> ||
                       requires { to_string(value); }) {
    return text_of(value);
  } else {
    static_assert(Streamable<T>, "FERMATA_LOG: expected something that has a text");
    std::ostringstream stream;
    stream << value;
    return std::move(stream).str();
  }
}

template <class... Pieces>
[[nodiscard]] std::string log_text(const Pieces&... pieces) {
  std::string text;
  ((text += log_text_of(pieces)), ...);
  return text;
}

}  // namespace detail
}  // namespace fermata

/// Writes one line into the program's log: the texts of its arguments, one after the other.
#define FERMATA_LOG(...)                                                        \
  ::fermata::log_line_from(::fermata::SourcePlace::current(__FILE__, __LINE__), \
                           ::fermata::detail::log_text(__VA_ARGS__))
