// SPDX-License-Identifier: Apache-2.0

// A transfer locks the account that it takes from and then the one that it gives to. Two transfers
// the opposite way each hold what the other one waits for.

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(TwoLocks) {
  Mutex giro("giro");
  Mutex savings("savings");
  const auto rent = spawn("rent", [&] {
    const Mutex::Guard from(giro);
    delay(2ms);  // asks whether it is fraud
    const Mutex::Guard to(savings);
  });
  const auto refill = spawn("refill", [&] {
    delay(1ms);
    delay(1ms);  // until the month is over
    const Mutex::Guard from(variant == Variant::Buggy ? savings : giro);
    delay(1ms);  // asks whether it is fraud
    const Mutex::Guard to(variant == Variant::Buggy ? giro : savings);
  });
  spawn_bystanders(3);
  await(rent);
  await(refill);
}

}  // namespace fermata::properties::zoo
