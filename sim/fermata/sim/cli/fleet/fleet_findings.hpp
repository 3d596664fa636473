// SPDX-License-Identifier: Apache-2.0
#pragma once

// What failures leave beside their reports: tapes, pages, histories. In the folder of a plan they
// are below the signature of the failure, named by content, so that the same file from several
// workers is one.

#include <string>
#include <string_view>
#include <vector>

#include "fermata/sim/cli/event_reader.hpp"
#include "fermata/sim/fleet/publisher.hpp"

namespace fermata::sim::cli {

/// A text in which one stands for another.
struct Replacement {
  std::string from;
  std::string to;
};

/// The text with all replacements, in their order.
[[nodiscard]] std::string replaced(std::string text, const std::vector<Replacement>& replacements);

/// The folder of a signature, from the plan's.
[[nodiscard]] std::string folder_of_signature(const std::string& signature);

/// Publishes all files of `failure`, whose names begin as that of its tape. Returns what stands for
/// their paths. Suspends. Throws InputOutputError.
[[nodiscard]] std::vector<Replacement> publish_files(const FailureRecord& failure,
                                                     const fleet::PlanFolder& folder,
                                                     fleet::Publisher& publisher);

/// Publishes what the processes of the failures in `events` have printed before they died, which
/// may be other bytes each time. Returns the events with the names of the files instead. Suspends.
/// Throws InputOutputError.
[[nodiscard]] std::string without_outputs(std::string_view events, const fleet::PlanFolder& folder,
                                          fleet::Publisher& publisher);

}  // namespace fermata::sim::cli
