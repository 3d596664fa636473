// SPDX-License-Identifier: Apache-2.0

// Three steps that only do their part when the one before has been done. Each is tried once, and in
// no order that was promised: all of them succeed in one of six. (Z-AP-08, a chain of depth 3)

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

FERMATA_APPLICATION(Stages) {
  int stage = 0;
  const auto attempt = [&](int from) {
    if (stage == from) ++stage;
  };
  const auto third = spawn("third", [&] { attempt(2); });
  const auto second = spawn("second", [&] { attempt(1); });
  const auto first = spawn("first", [&] { attempt(variant == Variant::Buggy ? 0 : 3); });
  spawn_bystanders(3);
  await(third);
  await(second);
  await(first);
  EXPECT_LT(stage, 3);
}

}  // namespace fermata::properties::zoo
