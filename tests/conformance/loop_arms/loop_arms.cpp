// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/loop_arm.hpp"
#include "tests/conformance/loop_arms/hosts.hpp"
#include "tests/conformance/loop_arms/reactor_arm.hpp"
#include "tests/conformance/loop_arms/shuffle_arm.hpp"
#include "tests/conformance/loop_arms/sim_arm.hpp"
#include "tests/conformance/loop_arms/tracing_arm.hpp"

namespace fermata::conformance {
namespace {

template <class Arm>
std::unique_ptr<LoopArm> make() {
  return std::make_unique<Arm>();
}

/// An arm on the driver `name` of the factory.
#define FERMATA_DRIVER_ARM(name) \
  [] { return std::unique_ptr<LoopArm>(std::make_unique<ReactorArm>(name)); }

std::vector<ArmKind> own_kinds() {
  return {
      {.name = "uv", .make = FERMATA_DRIVER_ARM("uv"), .driver = "uv"},
      {.name = "ev", .make = FERMATA_DRIVER_ARM("ev"), .driver = "ev"},
      {.name = "event", .make = FERMATA_DRIVER_ARM("event"), .driver = "event"},
      {.name = "poll",
       .make = FERMATA_DRIVER_ARM("select"),
       .driver = "select",
       .has_native_handle = false},
      {.name = "select",
       .make = FERMATA_DRIVER_ARM("pselect"),
       .driver = "pselect",
       .is_select = true,
       .has_native_handle = false},
      {.name = "tracing", .make = make<TracingArm>, .driver = "select", .has_native_handle = false},
      {.name = "simulated", .make = make<SimLoopArm>, .is_real = false, .has_native_handle = false},
      {.name = "shuffle",
       .make = make<ShuffleArm>,
       .is_real = false,
       .is_canonical = false,
       .has_native_handle = false},
  };
}

#undef FERMATA_DRIVER_ARM

}  // namespace

std::vector<ArmKind> arm_kinds() {
  std::vector<ArmKind> kinds = own_kinds();
  std::erase_if(kinds, [](const ArmKind& kind) {
    return !kind.driver.empty() && !loop::supports(kind.driver);
  });
#ifdef FERMATA_HAS_HOSTS
  for (const ArmKind& kind : hosted_kinds()) kinds.push_back(kind);
#endif
  return kinds;
}

}  // namespace fermata::conformance
