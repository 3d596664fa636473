// SPDX-License-Identifier: Apache-2.0

// Local time, which is UTC on every simulated machine.

#include <ctime>

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

void tzset() noexcept {
  if (serving_machine() == nullptr) FERMATA_REAL(tzset)();
}

}  // extern "C"
