// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells a strategy that wants to know what each step of one runtime was: whose, and what it used,
// as far as that leaves traces or is announced by the program.

#include <cstdint>
#include <span>
#include <vector>

#include "fermata/sim/record/run_state.hpp"
#include "fermata/sim/strategy/races.hpp"

namespace fermata {
class Event;
class Runtime;
}  // namespace fermata

namespace fermata::sim::detail {

class StepTeller {
 public:
  explicit StepTeller(RunState& record) noexcept : record_(record) {}

  void begin_run(const Runtime& runtime);
  /// The coroutine `path` has gained control.
  void runs(std::uint64_t path) noexcept { path_ = path; }
  void destroyed(const Event& event) { use(event, true); }
  /// The step uses what the program calls by a name with this key.
  void announced(std::uint64_t key, bool written);
  /// Ends the step, which has touched the events of `touched`; null ones have been destroyed.
  void end_step(const Runtime& runtime, std::span<const Event* const> touched);

 private:
  void use(const Event& event, bool gone);

  RunState& record_;
  std::uint64_t salt_ = 0;         // Tells the objects of one runtime from those of others.
  std::uint64_t first_fresh_ = 0;  // Number of the first object that this step makes.
  std::uint64_t path_ = 0;         // Who has had control in this step; 0: nobody.
  Uses uses_;
  Uses sorted_;
};

}  // namespace fermata::sim::detail
