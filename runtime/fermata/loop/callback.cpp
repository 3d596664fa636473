// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/callback.hpp"

#include <fmt/format.h>

namespace fermata::loop {

const char* to_string(CallbackKind kind) noexcept {
  switch (kind) {
    case CallbackKind::Defer:
      return "defer";
    case CallbackKind::Delay:
      return "delay";
    case CallbackKind::Repeat:
      return "repeat";
    case CallbackKind::Readable:
      return "readable";
    case CallbackKind::Writable:
      return "writable";
    case CallbackKind::Signal:
      return "signal";
    case CallbackKind::Notice:
      return "notice";
  }
  return "unknown";
}

std::string CallbackInfo::text() const {
  return fmt::format("{} callback {} registered at {}", to_string(kind), id, registered_at.text());
}

}  // namespace fermata::loop
