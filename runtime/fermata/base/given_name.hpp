// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "fermata/base/name.hpp"

namespace fermata::backend {

/// A Name as the parameter of a constructor that std::make_shared and others may call. Any text is
/// copied, a literal too: it comes to such a constructor as an array like others.
struct GivenName : Name {
  GivenName() = default;
  GivenName(Name name) noexcept : Name(std::move(name)) {}       // NOLINT
  GivenName(const char* text) : Name(std::string_view(text)) {}  // NOLINT
  GivenName(const std::string& text) : Name(text) {}             // NOLINT
  GivenName(std::string_view text) : Name(text) {}               // NOLINT
};

}  // namespace fermata::backend
