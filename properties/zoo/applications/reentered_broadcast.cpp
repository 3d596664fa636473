// SPDX-License-Identifier: Apache-2.0

// A message goes to the members of a room one by one, and each takes its time. When one leaves
// meanwhile, those behind it move up, and one of them is passed over. (reentrancy)

#include <map>
#include <string>
#include <vector>

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(ReenteredBroadcast) {
  std::vector<std::string> members = {"ann", "bob", "eve"};
  std::map<std::string, int> received;
  const auto leave = [&](const std::string& who) { std::erase(members, who); };

  const auto broadcast = spawn("broadcast", [&] {
    const std::vector<std::string> now_here = members;
    const auto& receivers = variant == Variant::Buggy ? members : now_here;
    for (std::size_t i = 0; i < receivers.size(); ++i) {
      ++received[receivers[i]];
      delay(1ms);  // until it is sent
    }
  });
  const auto ann = spawn("ann", [&] {
    delay(1500us);  // reads
    delay(500us);   // and yawns
    leave("ann");
  });
  spawn_bystanders(3);
  await(broadcast);
  await(ann);
  EXPECT_EQ(received["eve"], 1);
}

}  // namespace fermata::properties::zoo
