// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/report_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fermata/base/error.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/watched_run.hpp"

namespace fermata::sim {
namespace {

using test::error_of;

TEST(ReportFormat, IsReadFromItsName) {
  EXPECT_EQ(parse_report_format("html"), ReportFormat::Html);
  EXPECT_EQ(parse_report_format("chrome"), ReportFormat::Chrome);
  EXPECT_EQ(parse_report_format("pcap"), ReportFormat::Pcap);
  EXPECT_EQ(parse_report_format("json"), ReportFormat::Json);
  EXPECT_THROW(static_cast<void>(parse_report_format("HTML")), UsageError);
}

TEST(ReportFormat, IsReadFromTheNameOfAFile) {
  EXPECT_EQ(format_of_file("out/a.html"), ReportFormat::Html);
  EXPECT_EQ(format_of_file("a.json"), ReportFormat::Json);
  EXPECT_EQ(format_of_file("a.trace.json"), ReportFormat::Chrome);
  EXPECT_EQ(format_of_file("a.pcap"), ReportFormat::Pcap);
  EXPECT_THROW(static_cast<void>(format_of_file("a.tape")), UsageError);
  for (const auto format :
       {ReportFormat::Html, ReportFormat::Json, ReportFormat::Chrome, ReportFormat::Pcap}) {
    EXPECT_EQ(format_of_file("a" + std::string(extension_of(format))), format);
  }
}

TEST(ReportFile, HoldsTheReportAndMakesItsFolder) {
  const std::string folder = ::testing::TempDir() + "fermata_report_file";
  std::filesystem::remove_all(folder);
  const auto run = test::watched_run(test::greet);
  for (const auto format :
       {ReportFormat::Html, ReportFormat::Json, ReportFormat::Chrome, ReportFormat::Pcap}) {
    const std::string path = folder + "/below/a" + std::string(extension_of(format));
    write_report(run.report, format, path);
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(text, report_text(run.report, format)) << path;
  }
  std::filesystem::remove_all(folder);
}

TEST(ReportFile, SaysWhatKeepsItFromBeingWritten) {
  const auto run = test::watched_run([](World&) {});
  const std::string message =
      error_of([&] { write_report(run.report, ReportFormat::Json, "/proc/no/report.json"); });
  EXPECT_NE(message.find("cannot write the report /proc/no/report.json"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace fermata::sim
