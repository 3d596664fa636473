// SPDX-License-Identifier: Apache-2.0
#pragma once

// A run for programs: docs/run_data.md says what is in it. The page that shows a run reads the
// same.

#include <string>
#include <vector>

#include "fermata/sim/report/run_report.hpp"

namespace fermata::sim {

struct Message;

/// One line of JSON, in UTF-8: invalid bytes in names and messages are replaced.
/// `for_page`: without the steps that a page has no room for.
[[nodiscard]] std::string run_data(const RunReport& report, bool for_page = false);

/// The machines that a run speaks of, in the order in which it first does; a thread of a program is
/// one of its own.
[[nodiscard]] std::vector<std::string> machines_of(const RunLog& run_log);

/// "tcp main:40001 -> server:80".
[[nodiscard]] std::string message_text(const Message& message);

}  // namespace fermata::sim
