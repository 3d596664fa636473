// SPDX-License-Identifier: Apache-2.0

// Whether a seat is free is asked before the card is charged, and not again afterwards: when that
// takes long, the seat is sold twice. (Z-AP-02)

#include <map>
#include <string>

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(CheckThenAct) {
  std::map<std::string, std::string> seats;
  int sold = 0;
  const auto book = [&](const std::string& guest) {
    if (seats.contains("12A")) return;
    delay(1ms + random(4) * 1ms);  // the card is charged
    if (variant == Variant::Correct && seats.contains("12A")) return;
    seats["12A"] = guest;
    ++sold;
  };
  const auto ann = spawn("ann", [&] { book("ann"); });
  spawn_bystanders(3);
  delay(2500us);
  const auto bob = spawn("bob", [&] { book("bob"); });
  await(ann);
  await(bob);
  EXPECT_EQ(sold, 1);
}

}  // namespace fermata::properties::zoo
