// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/json.hpp"

#include "fermata/base/assert.hpp"

namespace fermata::sim {

std::string json_text(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  FERMATA_ASSERT(!text.empty());
  return text;
}

std::string as_utf8(std::string_view text) {
  return Json::parse(json_text(Json(text))).get<std::string>();
}

}  // namespace fermata::sim
