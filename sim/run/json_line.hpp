// SPDX-License-Identifier: Apache-2.0
#pragma once

// One JSON object, written on one line. Text that is no UTF-8 gets replacement characters.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fermata::sim {

class JsonLine {
 public:
  JsonLine& add(std::string_view name, std::string_view text);
  JsonLine& add(std::string_view name, const char* text) {
    return add(name, std::string_view(text));
  }
  JsonLine& add(std::string_view name, std::uint64_t number);
  JsonLine& add_signed(std::string_view name, std::int64_t number);
  JsonLine& add(std::string_view name, bool value);
  JsonLine& add(std::string_view name, const JsonLine& object);
  JsonLine& add(std::string_view name, const std::vector<JsonLine>& objects);

  /// "{...}", without an end of line.
  [[nodiscard]] std::string text() const { return '{' + members_ + '}'; }

 private:
  void begin(std::string_view name);

  std::string members_;
};

/// `text` with what is no UTF-8 replaced.
[[nodiscard]] std::string as_utf8(std::string_view text);

/// `text` as a JSON string, with its quotes.
[[nodiscard]] std::string json_quoted(std::string_view text);

}  // namespace fermata::sim
