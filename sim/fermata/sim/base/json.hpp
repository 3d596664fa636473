// SPDX-License-Identifier: Apache-2.0
#pragma once

// JSON as this project writes it. Not for headers that programs include, which do without
// nlohmann's.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fermata::sim {

/// Its members stay in the order in which they were given.
using Json = nlohmann::ordered_json;

/// JSON on one line. Invalid UTF-8 is replaced by replacement characters.
[[nodiscard]] std::string json_text(const Json& json);

/// `text` with invalid UTF-8 replaced by replacement characters.
[[nodiscard]] std::string as_utf8(std::string_view text);

}  // namespace fermata::sim
