// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "fermata/db/target.hpp"

namespace fermata::db::sqlite {

/// The parts of a URL that SQLite uses.
struct Location {
  std::string name;  // A path, or a URI when `flags` say so.
  int flags = 0;     // Of sqlite3_open_v2.
  bool in_memory = false;
  std::chrono::milliseconds busy_timeout{5'000};
  std::string begin = "BEGIN";
  std::string text;  // Of the target, for errors.
};

/// Throws UsageError when `target` cannot be connected to.
[[nodiscard]] Location locate(const Target& target);

}  // namespace fermata::db::sqlite
