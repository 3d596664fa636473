// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/html_page.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/report/run_data.hpp"

namespace fermata::sim {
namespace {

constexpr std::string_view kPlace = R"(<script type="application/json" id="run-data">)";

/// Nothing in it can end the element that it stands in.
void append_escaped(std::string& page, std::string_view data) {
  for (const char each : data) {
    if (each == '<') {
      page += "\\u003c";
    } else {
      page += each;
    }
  }
}

}  // namespace

std::string html_page(const RunReport& report) {
  const std::string_view empty = empty_html_page();
  const std::size_t place = empty.find(kPlace);
  FERMATA_REQUIRE(place != std::string_view::npos, "the report's page has no place for a run");
  const std::size_t begin = place + kPlace.size();
  const std::string data = run_data(report, true);
  std::string page;
  page.reserve(empty.size() + data.size());
  page += empty.substr(0, begin);
  append_escaped(page, data);
  page += empty.substr(begin);
  FERMATA_ASSERT(page.size() >= empty.size() + data.size());
  return page;
}

}  // namespace fermata::sim
