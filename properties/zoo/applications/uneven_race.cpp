// SPDX-License-Identifier: Apache-2.0

// 25 events: a download of 24 parts, and one that calls it off. It goes wrong when that comes
// between the last two parts: a random choice at each event hardly ever gets so far.

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

FERMATA_APPLICATION(UnevenRace) {
  constexpr int kParts = 24;
  int parts = 0;
  bool called_off = false;
  bool renamed = false;
  const auto download = spawn("download", [&] {
    for (; parts < kParts && !called_off; ++parts) suspend();
    const bool stopped = variant == Variant::Buggy ? parts < kParts - 1 : parts < kParts;
    if (called_off && stopped) return;
    renamed = true;  // It is whole.
  });
  const auto user = spawn("user", [&] { called_off = true; });
  await(download);
  await(user);
  EXPECT_EQ(renamed, parts == kParts);
}

}  // namespace fermata::properties::zoo
