// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether what should happen in some run has happened: FERMATA_SOMETIMES and FERMATA_REACHABLE.
//
// Who owes   The program does, to all of its simulated tests together: one test seldom comes by all
//            that is linked into its program, and what none of them comes by is a hole in the
//            tests. So this is judged when the process has run them all and all have passed. A part
//            of them (a filter, shards, one seed alone, a tape) proves nothing either way: then the
//            process says that it does not judge. The tool `fermata` judges over all its processes.
// By test    FERMATA_OBLIGATIONS=test asks more: what a test comes by must hold in one of its own
//            runs. That is judged of every test that explores more than one run.

#include <optional>
#include <string>

#include "fermata/sim/record/catalogue.hpp"
#include "fermata/sim/run/environment.hpp"

namespace fermata::sim::detail {

/// A test of this process has explored `runs` schedules.
void note_explored(const Catalogue& catalogue, std::uint64_t runs);

/// A test of this process was skipped in all of its runs: what it owes stays open.
void note_skipped();

/// The assertions that one test reached and never saw hold, one per line; empty when there are
/// none, or when they are not judged.
[[nodiscard]] std::string missed_by_test(const Catalogue& catalogue, std::uint64_t runs,
                                         const Options& options);

/// Judges the obligations at the end of a process whose tests have passed, and prints the result.
/// Returns whether one was missed.
[[nodiscard]] bool judge_obligations(const Options& options);

}  // namespace fermata::sim::detail
