// SPDX-License-Identifier: Apache-2.0

// A connection is taken from those that are free, then a transaction begins, and only then it is
// certain that the connection goes back. A client that leaves while the transaction begins takes
// it along. (Z-DB-05)

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

namespace {

struct GivesBack {
  Semaphore& free;
  ~GivesBack() { free.release(); }
};

void begin_transaction() { delay(2ms); }
void insert_row() { delay(2ms); }

}  // namespace

FERMATA_APPLICATION(LeakOnCancel) {
  Semaphore free("free connections", 1);
  const auto session = spawn("session", [&] {
    free.acquire();
    if (variant == Variant::Buggy) {
      begin_transaction();
      const GivesBack at_the_end{free};
      insert_row();
    } else {
      const GivesBack at_the_end{free};
      begin_transaction();
      insert_row();
    }
  });
  const auto client = spawn("client", [&] {
    delay(1ms);
    delay(1ms);  // until it is tired of waiting
    session.cancel();
  });
  spawn_bystanders(3);
  await(client);
  try {
    await(session);
  } catch (const Cancellation&) {
  }
  EXPECT_EQ(free.available(), 1u);
}

}  // namespace fermata::properties::zoo
