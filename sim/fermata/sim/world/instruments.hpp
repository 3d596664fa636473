// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fermata::sim {

class RunLog;
class StepProbe;
class WakeListener;

namespace detail {

/// What the harness attaches to a world to look at its run. None of it changes the run. Whatever is
/// pointed to must outlive the run.
struct Instruments {
  /// Keep the trace hash after every step, so that two runs can be compared step by step.
  bool record_steps = false;
  /// Keep a log of what is done to primitives: a deadlock is explained with who did what before.
  bool log_waits = false;
  /// The log of the run; null: none.
  RunLog* run_log = nullptr;
  /// Is told what happens in one step of the run; null: nobody.
  StepProbe* probe = nullptr;
  /// Is told who wakes whom; null: nobody.
  WakeListener* wakes = nullptr;
  /// Audit the run by samples, unless somebody looks at each step.
  bool sampled_audit = false;
};

}  // namespace detail
}  // namespace fermata::sim
