// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/assertions.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "fermata/base/error.hpp"

namespace fermata::detail {
namespace {

std::string complaint(const backend::AssertionSite& site, const std::string& details) {
  std::string text = site.kind == backend::AssertionKind::Unreachable
                         ? fmt::format("reached, though it must not be: {}", site.message)
                         : fmt::format("does not hold: {}", site.message);
  const char* between = " (";
  for (const std::string& part : {std::string(site.condition), details}) {
    if (part.empty()) continue;
    text += between + part;
    between = "; ";
  }
  return fmt::format("{}{} at {}:{}", text, *between == ';' ? ")" : "", site.file, site.line);
}

}  // namespace

// Thrown while an exception is under way it would end the process, and with it what is to be told.
void assertion_failed(const backend::AssertionSite& site, const std::string& details) {
  if (backend::Observer* const observer = present_observer()) {
    const bool matters = observer->violated(site, details);
    if (!matters || std::uncaught_exceptions() > 0) return;
  } else if (current_runtime_pointer != nullptr &&
             current_runtime_pointer->options().abort_on_failed_assertion) {
    std::fprintf(stderr, "fermata: %s\n", complaint(site, details).c_str());
    std::abort();
  }
  throw AssertionFailed(complaint(site, details));
}

}  // namespace fermata::detail
