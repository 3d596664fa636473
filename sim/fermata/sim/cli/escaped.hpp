// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace fermata::sim::cli {

/// The text as XML and HTML take it, in elements and in attributes. What XML 1.0 cannot write is a
/// question mark.
[[nodiscard]] std::string escaped(std::string_view raw);

}  // namespace fermata::sim::cli
