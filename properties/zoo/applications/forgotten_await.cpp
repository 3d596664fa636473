// SPDX-License-Identifier: Apache-2.0

// What a request has to say is flushed by a coroutine that nobody waits for. The request is
// answered, and the file closed, whether or not that has been done. (Z-AP-05)

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(ForgottenAwait) {
  bool open = true;
  int lines = 0;
  const auto request = spawn("request", [&] {
    const auto flush = spawn("flush", [&] {
      delay(2ms);  // the disk
      if (open) ++lines;
    });
    if (variant == Variant::Correct) await(flush);
    delay(1ms);  // the answer is written
    delay(1ms);  // and has been read
    open = false;
  });
  spawn_bystanders(3);
  await(request);
  EXPECT_EQ(lines, 1);
}

}  // namespace fermata::properties::zoo
