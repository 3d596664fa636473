// SPDX-License-Identifier: Apache-2.0
#pragma once

// A run shown in one of the forms there are, and the file that holds it.

#include <string>

#include "fermata/sim/report/report_format.hpp"
#include "fermata/sim/report/run_report.hpp"

namespace fermata::sim {

[[nodiscard]] std::string report_text(const RunReport& report, ReportFormat format);

/// Creates the folders on the way. Throws InputOutputError, and then leaves no file.
void write_report(const RunReport& report, ReportFormat format, const std::string& path);

}  // namespace fermata::sim
