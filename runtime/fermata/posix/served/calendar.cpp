// SPDX-License-Identifier: Apache-2.0

// Local time, which is UTC on every simulated machine.

#include <algorithm>
#include <clocale>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::serving_machine;

namespace {

/// What gmtime() has given, null when the year is too large.
tm* as_local(tm* time) noexcept {
  if (time == nullptr) return nullptr;
  FERMATA_ASSERT(time->tm_isdst == 0);
  time->tm_zone = "UTC";
  return time;
}

/// A piece of a format that begins with '%': flags, a width, a modifier, and what is to be told.
struct Conversion {
  std::size_t size = 0;
  char padding = ' ';
  std::size_t width = 0;
  char what = '\0';
};

Conversion conversion_at(std::string_view text, std::size_t most) noexcept {
  constexpr std::string_view kFlags = "_-0^#+";
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kModifiers = "EO";
  FERMATA_ASSERT(text.starts_with('%'));
  Conversion found{.size = 1};
  const auto next_is_of = [&](std::string_view set) {
    return found.size < text.size() && set.find(text[found.size]) != std::string_view::npos;
  };
  for (; next_is_of(kFlags); ++found.size) {
    if (std::string_view("_-0").find(text[found.size]) == std::string_view::npos) continue;
    found.padding = text[found.size] == '0' ? '0' : ' ';
  }
  for (; next_is_of(kDigits); ++found.size) {
    const auto digit = static_cast<std::size_t>(text[found.size] - '0');
    found.width = std::min(most, 10 * found.width + digit);
  }
  if (next_is_of(kModifiers)) ++found.size;
  if (found.size < text.size()) found.what = text[found.size++];
  return found;
}

/// `format` with the seconds since 1970 in place of each "%s", which the C library would count by
/// the real machine's time zone. What is longer than `most` does not fit.
std::string with_seconds(std::string_view format, std::size_t most, const tm& time) {
  FERMATA_ASSERT(!format.empty());
  std::string all;
  while (!format.empty()) {
    const std::size_t plain = std::min(format.find('%'), format.size());
    all += format.substr(0, plain);
    format.remove_prefix(plain);
    if (format.empty()) break;
    const Conversion next = conversion_at(format, most);
    if (next.what == 's') {
      tm copy = time;
      const std::string seconds = std::to_string(::timegm(&copy));
      if (seconds.size() < next.width) all.append(next.width - seconds.size(), next.padding);
      all += seconds;
    } else {
      all += format.substr(0, next.size);
    }
    format.remove_prefix(next.size);
  }
  return all;
}

bool needs_seconds(const char* format) noexcept {
  FERMATA_ASSERT(format != nullptr);
  if (serving_machine() == nullptr) return false;
  const char* const first = std::strchr(format, '%');
  return first != nullptr && std::strchr(first, 's') != nullptr;
}

}  // namespace

extern "C" {

tm* localtime(const time_t* time) noexcept {
  return serving_machine() == nullptr ? FERMATA_REAL(localtime)(time) : as_local(::gmtime(time));
}

tm* localtime_r(const time_t* time, tm* result) noexcept {
  return serving_machine() == nullptr ? FERMATA_REAL(localtime_r)(time, result)
                                      : as_local(::gmtime_r(time, result));
}

time_t mktime(tm* time) noexcept {
  if (serving_machine() == nullptr) return FERMATA_REAL(mktime)(time);
  const time_t seconds = ::timegm(time);
  static_cast<void>(as_local(time));
  return seconds;
}

char* ctime(const time_t* time) noexcept {
  return serving_machine() == nullptr ? FERMATA_REAL(ctime)(time) : ::asctime(::gmtime(time));
}

char* ctime_r(const time_t* time, char* text) noexcept {
  if (serving_machine() == nullptr) return FERMATA_REAL(ctime_r)(time, text);
  FERMATA_ASSERT(time != nullptr);
  FERMATA_ASSERT(text != nullptr);
  tm parts = {};
  return ::asctime_r(::gmtime_r(time, &parts), text);
}

size_t strftime(char* text, size_t size, const char* format, const tm* time) noexcept {
  if (!needs_seconds(format)) return FERMATA_REAL(strftime)(text, size, format, time);
  return FERMATA_REAL(strftime)(text, size, with_seconds(format, size, *time).c_str(), time);
}

size_t strftime_l(char* text, size_t size, const char* format, const tm* time,
                  locale_t locale) noexcept {
  if (!needs_seconds(format)) return FERMATA_REAL(strftime_l)(text, size, format, time, locale);
  return FERMATA_REAL(strftime_l)(text, size, with_seconds(format, size, *time).c_str(), time,
                                  locale);
}

// What the C++ library calls.
size_t __strftime_l(char* text, size_t size, const char* format, const tm* time,
                    locale_t locale) noexcept;

size_t __strftime_l(char* text, size_t size, const char* format, const tm* time,
                    locale_t locale) noexcept {
  return strftime_l(text, size, format, time, locale);
}

void tzset() noexcept {
  if (serving_machine() == nullptr) FERMATA_REAL(tzset)();
}

}  // extern "C"
