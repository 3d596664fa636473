// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/escaped.hpp"

#include "fermata/sim/base/json.hpp"

namespace fermata::sim::cli {
namespace {

/// XML 1.0 has no way to write most control characters.
bool allowed(char letter) {
  return static_cast<unsigned char>(letter) >= 0x20 || letter == '\n' || letter == '\t';
}

}  // namespace

std::string escaped(std::string_view raw) {
  const std::string text = as_utf8(raw);
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      default:
        out += allowed(letter) ? letter : '?';
    }
  }
  return out;
}

}  // namespace fermata::sim::cli
