// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <string>

namespace fermata::backend {

/// "SIGTERM"; the number alone of a signal without a name, such as one of real time.
[[nodiscard]] inline std::string signal_name(int signum) {
  const char* const name = sigabbrev_np(signum);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::to_string(signum);
}

}  // namespace fermata::backend
