// SPDX-License-Identifier: Apache-2.0
#pragma once

// What follows when a run has killed its process, or did not end: it is made again in forks of this
// process, which stays whole, put on a tape, and made small. A smaller run counts when it ends its
// process in the same way and, as far as that is known, at the same place in the program.
//
// Cost    A fork for each run of the shrinker, and some twenty more. The search for a smaller crash
//         ends after 6 s. Of a hang everything takes at most two and a half times as long as a run
//         may take, and each run of the shrinker half a second.
// Told    What is known before the search is told at once: a tape and the stack of the end.

#include <string>

#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/events.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/run/runner.hpp"

namespace fermata::sim::detail {

/// Whether the run of `tape` has ended its process.
[[nodiscard]] bool is_deadly(const Tape& tape);

class Autopsy {
 public:
  /// All must outlive this; `test` is "Suite.Name".
  Autopsy(const Program& program, const Options& options, const std::string& test,
          const Events& events) noexcept
      : program_(program), options_(options), test_(test), events_(events) {}

  /// Of the last run of `exploration`. Writes the tapes and tells of them; nothing happens when
  /// that run ends this time.
  void of_exploration(ExploreOptions exploration) const;

  /// Of the run of a tape, which is written anew, smaller, beside it. Throws Error when it does not
  /// end its process.
  void of_tape(const Tape& tape, const std::string& path) const;

 private:
  struct Finding;

  void make_small(Finding& finding, const std::string& shrunk_path) const;
  [[nodiscard]] static std::string text_of(const Finding& finding);
  void tell(const Finding& finding) const;
  void report(const Finding& finding) const;

  const Program& program_;
  const Options& options_;
  const std::string& test_;
  const Events& events_;
};

}  // namespace fermata::sim::detail
