// SPDX-License-Identifier: Apache-2.0

// At most two payments at a time. The permit of one that fails is not given back; after two of
// those nobody pays any more.

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

namespace {

void pay() {
  delay(1ms);
  if (FERMATA_FAULT("payment declined")) throw Error("declined");
}

}  // namespace

FERMATA_APPLICATION(LeakedPermit) {
  Semaphore permits("permits", 2);
  const auto customer = spawn("customer", [&] {
    for (int i = 0; i < 4; ++i) {
      permits.acquire();
      try {
        pay();
        permits.release();
      } catch (const Error&) {
        if (variant == Variant::Correct) permits.release();
      }
    }
  });
  spawn_bystanders(3);
  await(customer);
}

}  // namespace fermata::properties::zoo
