// SPDX-License-Identifier: Apache-2.0

// A shop waits for a payment for a while, then it calls the order off. The payment may go through
// all the same: the customer has paid, and gets nothing.

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(TimeoutOrSuccess) {
  bool withdrawn = false;
  bool charged = false;
  bool shipped = false;
  const auto bank = spawn("bank", [&] {
    delay(1ms + random(4) * 1ms);
    if (!withdrawn) charged = true;
  });
  const auto shop = spawn("shop", [&] {
    try {
      await(bank, {.timeout = 3500us});
      shipped = true;
    } catch (const Timeout&) {
      if (variant == Variant::Correct) withdrawn = true;
      shipped = charged;
    }
  });
  spawn_bystanders(3);
  await(shop);
  await(bank);
  EXPECT_EQ(charged, shipped);
}

}  // namespace fermata::properties::zoo
