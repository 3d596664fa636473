// SPDX-License-Identifier: Apache-2.0

// A line goes to the logger while the lock of the session is held. The logger, before it takes the
// next line, wants that lock. (Z-AP-07)

#include <mutex>

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(LockOverSend) {
  Mutex state("state");
  Channel<int> lines("lines", 0);
  int logged = 0;
  const auto session = spawn("session", [&] {
    for (int line = 0; line < 2; ++line) {
      std::unique_lock<Mutex> lock(state);
      if (variant == Variant::Correct) lock.unlock();
      lines.send(line);
      if (lock.owns_lock()) lock.unlock();
      delay(1ms);
      delay(1ms);  // until the next line
    }
    lines.close();
  });
  const auto logger = spawn("logger", [&] {
    while (lines.next()) {
      delay(2ms);  // the file
      const Mutex::Guard guard(state);
      ++logged;
    }
  });
  spawn_bystanders(3);
  await(session);
  await(logger);
  EXPECT_EQ(logged, 2);
}

}  // namespace fermata::properties::zoo
