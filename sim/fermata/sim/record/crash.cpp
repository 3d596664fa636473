// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/crash.hpp"

#include <fmt/format.h>

#include <cstring>

namespace fermata::sim {

std::string ending_text(int signal, int code) {
  if (signal == 0) return fmt::format("exited with code {}", code);
  return fmt::format("was killed by signal {} ({})", signal, ::strsignal(signal));
}

std::string ProcessEnd::signature() const {
  if (kind == Kind::Hang) return "hang: wall limit";
  return "crash: " + ending_text(kind == Kind::Signal ? number : 0, number);
}

bool is_crash(std::string_view signature) noexcept {
  return signature.starts_with("crash: ") || signature.starts_with("hang: ");
}

}  // namespace fermata::sim
