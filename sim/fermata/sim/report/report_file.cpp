// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/report_file.hpp"

#include <filesystem>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/report/chrome_trace.hpp"
#include "fermata/sim/report/html_page.hpp"
#include "fermata/sim/report/pcap.hpp"
#include "fermata/sim/report/run_data.hpp"

namespace fermata::sim {
std::string report_text(const RunReport& report, ReportFormat format) {
  switch (format) {
    case ReportFormat::Html:
      return html_page(report);
    case ReportFormat::Json:
      return run_data(report) + '\n';
    case ReportFormat::Chrome:
      return chrome_trace(report) + '\n';
    case ReportFormat::Pcap:
      return pcap(report);
  }
  return {};
}

void write_report(const RunReport& report, ReportFormat format, const std::string& path) {
  FERMATA_REQUIRE(!path.empty(), "a report needs a path");
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  write_whole_file(path, report_text(report, format), "the report ");
}

}  // namespace fermata::sim
