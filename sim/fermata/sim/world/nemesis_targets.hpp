// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks that a nemesis comes back to.
//
// Some bugs need the same misfortune several times at the same point of a protocol, and nothing
// else: three leaders in turn that are cut off just after they have taken a command. Strikes that
// are spread over a run hardly ever do that. So about half of the runs that come to a mark have
// targets: some of their marks, each with one kind of strike that goes the same way each time.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/sim/machine/fault_plan.hpp"

namespace fermata::sim::detail {

/// For draws that the sentence of a strike says enough about.
inline std::string unsaid(const Decision& /*decision*/) { return {}; }

/// The marks of a run that strikes come back to.
class NemesisTargets final {
 public:
  /// How strikes at one mark go.
  struct Way {
    std::uint64_t number = 0;
    Duration age{};  // What its spans are parts of.
  };
  struct Strike {
    Fault kind = Fault::Crash;
    Way way;
    std::uint64_t told = 0;  // As Decisions::last_told() names the draw of it.
  };

  /// `decisions` must outlive it.
  explicit NemesisTargets(Decisions& decisions) : decisions_(decisions) {}

  /// Strikes of `kind` may come, at most `most` at each mark in a run. REQUIRES: no mark has been
  /// come to.
  void allow(Fault kind, unsigned most);

  /// A machine, whose key is `machine`, comes to `mark` when the run has this age. Returns what
  /// strikes it there.
  std::optional<Strike> came(std::uint64_t machine, std::string_view mark, Duration age);

  /// This run has targets, known from its first mark on: nothing else is to strike in it then.
  [[nodiscard]] bool taken() const noexcept { return taken_ == true; }

 private:
  struct Kind {
    Fault fault = Fault::Crash;
    unsigned most = 0;
  };
  struct Target {
    Fault kind = Fault::Crash;
    Odds odds{0, 1};    // With which it strikes, while some are left.
    unsigned left = 0;  // 0: not a target.
    std::uint64_t way = 0;
    Duration age{};  // Of the run when it was first come to.
  };
  [[nodiscard]] Target choose(std::string_view mark);

  Decisions& decisions_;
  std::vector<Kind> kinds_;  // Each as often as it counts among the others.
  std::optional<bool> taken_;
  std::map<std::string, Target, std::less<>> marks_;  // Those come to in a run with targets.
};

}  // namespace fermata::sim::detail
