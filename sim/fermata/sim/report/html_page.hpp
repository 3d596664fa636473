// SPDX-License-Identifier: Apache-2.0
#pragma once

// A run as a page for a browser: one file, which loads nothing.

#include <string>
#include <string_view>

#include "fermata/sim/report/run_report.hpp"

namespace fermata::sim {

[[nodiscard]] std::string html_page(const RunReport& report);

/// The page without a run: what fermata/sim/report/web/ is built to. Part of the library.
[[nodiscard]] std::string_view empty_html_page() noexcept;

}  // namespace fermata::sim
