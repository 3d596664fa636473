// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/in_process_trials.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/sim/run/explore.hpp"

namespace fermata::sim {

Runner& InProcessTrials::runner() {
  if (!runner_) runner_.emplace(program_, "calm", options_);
  return *runner_;
}

RunResult InProcessTrials::run(const std::vector<Decision>& decisions,
                               const std::string& rapidcheck) {
  Replay replay(decisions, 0, {}, ReplayMode::Best);
  return runner().replay(Preparation{tape_.seed, rapidcheck}, replay);
}

bool InProcessTrials::fails(const std::vector<Decision>& decisions, const std::string& rapidcheck) {
  return run(decisions, rapidcheck).signature() == tape_.signature;
}

std::vector<Decision> InProcessTrials::decisions() const {
  FERMATA_ASSERT(runner_.has_value());
  const auto used = runner_->decisions().log().recorded();
  return {used.begin(), used.end()};
}

std::uint64_t InProcessTrials::steps() const {
  FERMATA_ASSERT(runner_.has_value());
  return runner_->world().steps();
}

std::vector<Decision> InProcessTrials::alternatives(const std::vector<Decision>& decisions,
                                                    const std::string& rapidcheck) {
  runner().set_recording(true);
  run(decisions, rapidcheck);
  runner_->set_recording(false);
  return runner_->decisions().log().alternatives();
}

std::optional<FoundFailure> InProcessTrials::look_closely(const Tape& tape) {
  runner_.reset();
  return replay_closely(program_, options_, tape);
}

}  // namespace fermata::sim
