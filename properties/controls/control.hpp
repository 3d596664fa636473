// SPDX-License-Identifier: Apache-2.0
#pragma once

// Negative controls: what is wrong on purpose, so that whoever explores right programs knows that
// it would have been told.

#include <functional>
#include <string>
#include <vector>

namespace fermata::properties {

struct Control {
  std::string name;
  /// Tries it. Returns what is not told of it as it must be; empty when nothing is missing.
  std::function<std::string()> complaint;
};

/// All canaries and all damages.
[[nodiscard]] std::vector<Control> controls();

}  // namespace fermata::properties
