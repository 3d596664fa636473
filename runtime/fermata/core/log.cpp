// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/log.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <utility>

#include "fermata/core/coroutine.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata {
namespace {

/// "2026-01-31T12:00:00.123Z".
std::string text_of_time(WallTime time) {
  const std::chrono::sys_time<std::chrono::nanoseconds> at{
      std::chrono::nanoseconds(time.nanoseconds)};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::milliseconds>(at - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

/// In one piece, so that what several threads write is not mixed.
void write_to_standard_error(const std::string& line) { std::clog << line + '\n' << std::flush; }

std::string described(const LogLine& line) {
  const std::string who = line.coroutine.empty() ? fmt::format("runtime '{}'", line.runtime)
                                                 : fmt::format("'{}'", line.coroutine);
  return fmt::format("[{} {}] {}", text_of_time(line.time), who, line.text);
}

}  // namespace

void log_line(std::string_view text) {
  log_line_from(SourcePlace{.file = "unknown", .function = "", .line = 0}, text);
}

void log_line_from(const SourcePlace& place, std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  Runtime* const runtime = detail::current_runtime_pointer;
  if (runtime == nullptr) return write_to_standard_error(std::string(text));
  const CoroutineBase* const current = runtime->current();
  const std::string label = current != nullptr ? current->label() : std::string();
  const LogLine line{.text = text,
                     .runtime = runtime->name(),
                     .coroutine = label,
                     .time = runtime->reactor().wall_clock(),
                     .place = place};
  const auto& sink = runtime->options().log_sink;
  if (sink) return sink(line);
  write_to_standard_error(described(line));
}

std::string detail::span_text(Duration span) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 3> kUnits = {
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}}};
  for (const auto& [nanoseconds, name] : kUnits) {
    if (span.count() % nanoseconds == 0) {
      return fmt::format("{} {}", span.count() / nanoseconds, name);
    }
  }
  return fmt::format("{} ns", span.count());
}

}  // namespace fermata
