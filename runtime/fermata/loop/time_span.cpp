// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/time_span.hpp"

#include <fmt/format.h>

#include <cmath>

#include "fermata/base/error.hpp"

namespace fermata::loop {

Duration TimeSpan::of(long double nanoseconds) {
  if (std::isnan(nanoseconds)) throw UsageError("NaN is not a valid time; expected zero or more");
  if (nanoseconds < 0) {
    throw UsageError(fmt::format("a time of {} s: expected zero or more",
                                 static_cast<double>(nanoseconds / 1e9L)));
  }
  if (nanoseconds >= static_cast<long double>(Duration::max().count())) return Duration::max();
  return Duration(static_cast<Duration::rep>(std::ceil(nanoseconds)));
}

}  // namespace fermata::loop
