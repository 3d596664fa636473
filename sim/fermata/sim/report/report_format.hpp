// SPDX-License-Identifier: Apache-2.0
#pragma once

// The forms in which a run can be shown.

#include <cstdint>
#include <string_view>

namespace fermata::sim {

enum class ReportFormat : std::uint8_t {
  Html,    // a page for a browser
  Json,    // docs/run_data.md
  Chrome,  // a trace for Perfetto and chrome://tracing
  Pcap,    // what the machines sent each other, for Wireshark and tcpdump
};

/// "html", "json", "chrome" or "pcap". Throws UsageError.
[[nodiscard]] ReportFormat parse_report_format(std::string_view text);
/// The extension of its files: ".html", ".json", ".trace.json", ".pcap".
[[nodiscard]] std::string_view extension_of(ReportFormat format) noexcept;
/// The format of a file by its name. Throws UsageError when the name ends in none of the known
/// extensions.
[[nodiscard]] ReportFormat format_of_file(std::string_view path);

/// Whether it shows why a run fails, and not only what happens in it.
[[nodiscard]] constexpr bool has_explanation(ReportFormat format) noexcept {
  return format == ReportFormat::Html || format == ReportFormat::Json;
}

}  // namespace fermata::sim
