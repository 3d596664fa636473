// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/function_ref.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/drivers/factory.hpp"
#include "fermata/posix/suspending/suspending.hpp"

namespace fermata::test {

/// Cases run on each driver that this build has.
class OnEachDriver : public ::testing::TestWithParam<std::string_view> {
 protected:
  /// Runs `body` as the main coroutine; throws what ended it.
  static void run(detail::FunctionRef<void()> body) {
    Runtime runtime(loop::make_reactor(GetParam()), {.handle_stop_signals = false});
    EXPECT_EQ(runtime.run(body), 0);
  }
};

inline auto every_driver() {
  std::vector<std::string_view> names;
  for (const loop::Driver& each : loop::drivers()) names.push_back(each.name);
  return ::testing::ValuesIn(names);
}

inline std::string driver_name(const ::testing::TestParamInfo<std::string_view>& info) {
  return std::string(info.param);
}

/// What a call has returned, and errno if it has failed.
struct Told {
  long result;
  int error;
  friend bool operator==(const Told&, const Told&) = default;
  friend void PrintTo(const Told& told, std::ostream* out) {
    *out << told.result << " with errno " << told.error;
  }
};

template <class Result>
Told told(Result result) {
  const int error = errno;
  return {static_cast<long>(result), result < 0 ? error : 0};
}

}  // namespace fermata::test
