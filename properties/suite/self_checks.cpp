// SPDX-License-Identifier: Apache-2.0
#include "properties/suite/self_checks.hpp"

#include <fmt/format.h>

#include <string>

#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/record/failure.hpp"
#include "properties/controls/control.hpp"

namespace fermata::properties::suite {

namespace {

/// Whether it strikes only where a program asks for it, which none of the suite does: these are
/// tried with foreign code, or with folders that machines share.
bool is_tried_elsewhere(sim::Fault fault) noexcept {
  return fault == sim::Fault::ThreadCreationFailure || fault == sim::Fault::ClockStep ||
         fault == sim::Fault::LostReply || fault == sim::Fault::StaleFolder;
}

}  // namespace

int try_controls(std::uint64_t& tried) {
  for (const Control& control : controls()) {
    const std::string complaint = control.complaint();
    ++tried;
    if (complaint.empty()) continue;
    fmt::print("\ncontrol '{}': {}\n", control.name, complaint);
    return sim::exit_code(sim::Verdict::Missed);
  }
  return 0;
}

int check_faults(const Result& result) {
  for (std::size_t i = 0; i < result.faults.size(); ++i) {
    const auto fault = static_cast<sim::Fault>(i);
    if (result.faults[i] > 0 || is_tried_elsewhere(fault)) continue;
    fmt::print("\nthe fault '{}' has never struck\n", sim::to_string(fault));
    return sim::exit_code(sim::Verdict::Missed);
  }
  return 0;
}

}  // namespace fermata::properties::suite
