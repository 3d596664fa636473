// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/report_format.hpp"

#include <fmt/format.h>

#include <array>

#include "fermata/base/error.hpp"

namespace fermata::sim {
namespace {

struct Form {
  ReportFormat format;
  std::string_view name;
  std::string_view extension;
};

/// One extension may be the end of another: the longer one stands first.
constexpr std::array<Form, 4> kForms = {
    Form{ReportFormat::Chrome, "chrome", ".trace.json"}, Form{ReportFormat::Html, "html", ".html"},
    Form{ReportFormat::Json, "json", ".json"}, Form{ReportFormat::Pcap, "pcap", ".pcap"}};

}  // namespace

ReportFormat parse_report_format(std::string_view text) {
  for (const Form& form : kForms) {
    if (form.name == text) return form.format;
  }
  throw UsageError(fmt::format("'{}' is unknown; expected html, chrome, pcap or json", text));
}

std::string_view extension_of(ReportFormat format) noexcept {
  for (const Form& form : kForms) {
    if (form.format == format) return form.extension;
  }
  return {};
}

ReportFormat format_of_file(std::string_view path) {
  for (const Form& form : kForms) {
    if (path.ends_with(form.extension)) return form.format;
  }
  throw UsageError(
      fmt::format("'{}' does not say in which format; expected a name that ends in .html, "
                  ".trace.json, .pcap or .json, or the format as well",
                  path));
}

}  // namespace fermata::sim
