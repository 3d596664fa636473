// SPDX-License-Identifier: Apache-2.0

// A log of amounts, a line each, that is synced now and then. After a crash its last line may be
// there in part, which is an amount as well.

#include <sstream>
#include <string>

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

namespace {

bool is_amount(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

FERMATA_APPLICATION(TornTail) {
  world.heal();  // Nothing goes wrong but the crash.
  bool written = false;
  sim::Node& till = world.node("till", [&] {
    try {
      if (!written) {
        auto log = File::open("log", OpenMode::appending());
        log.write("100\n");
        log.sync();
        fs::sync_directory(".");
        log.write("250\n");
        written = true;
        delay(1s);  // until the next sync
        log.sync();
      }
      std::istringstream log(fs::read_file("log"));
      int sum = 0;
      for (std::string line; std::getline(log, line);) {
        const bool whole = !log.eof() || variant == Variant::Buggy;
        if (whole && is_amount(line)) sum += std::stoi(line);
      }
      EXPECT_TRUE(sum == 100 || sum == 350) << sum;
    } catch (const InputOutputError&) {  // The disk is full, or broken.
    }
  });
  world.at(500ms, [&] {
    if (!written || !till.is_up()) return;
    till.crash();
    till.restart();
  });
  spawn_bystanders(3);
  world.run();
}

}  // namespace fermata::properties::zoo
