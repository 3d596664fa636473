// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/machine/fault.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/suggestion.hpp"

namespace fermata::sim {

namespace {

constexpr std::array<const char*, kFaultCount> kNames = {
    "delay",
    "short-read",
    "short-write",
    "reset",
    "refused",
    "hung",
    "timer-late",
    "slow-close",
    "slow-disk",
    "disk-full",
    "disk-error",
    "dns-failure",
    "dns-delay",
    "datagram-loss",
    "datagram-duplicate",
    "datagram-reorder",
    "clog",
    "partition",
    "crash",
    "pause",
    "clock",
    "point",
    "watch-delay",
    "watch-overflow",
    "out-of-descriptors",
    "spawn-failure",
    "slow-exit",
    "interrupted",
    "spurious-readiness",
    "busy",
    "thread-creation-failure",
    "clock-step",
    "lost-reply",
    "stale-folder",
};

std::optional<Fault> fault_of(std::string_view name) {
  for (std::size_t i = 0; i < kFaultCount; ++i) {
    if (name == kNames[i]) return static_cast<Fault>(i);
  }
  return std::nullopt;
}

}  // namespace

const char* to_string(Fault fault) noexcept {
  const auto index = static_cast<std::size_t>(fault);
  FERMATA_ASSERT(index < kNames.size());
  return kNames[index];
}

FaultSet FaultSet::parse(std::string_view text) {
  if (text == "none") return none();
  FaultSet set = none();
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view name = text.substr(0, comma);
    const bool is_left_out = name.starts_with('-');
    if (is_left_out) name.remove_prefix(1);
    const std::optional<Fault> fault = fault_of(name);
    if (name == "all" && !is_left_out) {
      set = all();
    } else if (!fault) {
      std::vector<std::string_view> known(kNames.begin(), kNames.end());
      known.insert(known.end(), {"all", "none"});
      throw UsageError(fmt::format("faults '{}': expected all, none or some of {}{}", name,
                                   fmt::join(kNames, ","), suggestion(name, known)));
    } else if (is_left_out) {
      set.remove(*fault);
    } else {
      set.add(*fault);
    }
    if (comma == std::string_view::npos) return set;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace fermata::sim
