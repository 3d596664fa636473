// SPDX-License-Identifier: Apache-2.0

// Local time, which is UTC on every simulated machine.

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

/// `format` with the seconds since 1970 in place of each "%s", which the C library would count by
/// the real machine's time zone.
std::string with_seconds(std::string_view format, const tm& time) {
  FERMATA_ASSERT(!format.empty());
  std::string all;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const bool is_whole = format[i] == '%' && i + 1 < format.size();
    if (is_whole && format[i + 1] == 's') {
      tm copy = time;
      all += std::to_string(::timegm(&copy));
    } else {
      all += format[i];
      if (is_whole) all += format[i + 1];
    }
    if (is_whole) ++i;
  }
  return all;
}

bool needs_seconds(const char* format) noexcept {
  FERMATA_ASSERT(format != nullptr);
  return serving_machine() != nullptr && std::strstr(format, "%s") != nullptr;
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
  return FERMATA_REAL(strftime)(text, size, with_seconds(format, *time).c_str(), time);
}

size_t strftime_l(char* text, size_t size, const char* format, const tm* time,
                  locale_t locale) noexcept {
  if (!needs_seconds(format)) return FERMATA_REAL(strftime_l)(text, size, format, time, locale);
  return FERMATA_REAL(strftime_l)(text, size, with_seconds(format, *time).c_str(), time, locale);
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
