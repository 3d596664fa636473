// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/crash.hpp"

#include <fmt/format.h>

#include <cstring>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

std::string ending_text(int signal, int code) {
  FERMATA_ASSERT(signal >= 0);
  if (signal == 0) return fmt::format("exited with code {}", code);
  return fmt::format("was killed by signal {} ({})", signal, ::strsignal(signal));
}

std::string ProcessEnd::signature() const {
  FERMATA_ASSERT(kind != Kind::None);
  std::string text = kind == Kind::Hang
                         ? std::string("hang: wall limit")
                         : "crash: " + ending_text(kind == Kind::Signal ? number : 0, number);
  FERMATA_ASSERT(is_crash(text));
  return text;
}

bool is_crash(std::string_view signature) noexcept {
  return signature.starts_with("crash: ") || signature.starts_with("hang: ");
}

}  // namespace fermata::sim
