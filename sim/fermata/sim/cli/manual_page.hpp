// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace fermata::sim::cli {

/// The manual page fermata(1), written from the verbs and flags that `--help` shows: a text with
/// the macros of man(7).
[[nodiscard]] std::string manual_page();

}  // namespace fermata::sim::cli
