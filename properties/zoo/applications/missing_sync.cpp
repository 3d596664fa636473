// SPDX-License-Identifier: Apache-2.0

// Settings are written to a new file, which then takes the name of the old one. The name is durable
// before the contents are: after a crash the file may be there, and empty.

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(MissingSync) {
  bool saved = false;
  sim::Node& desk = world.node("desk", [&] {
    try {
      if (saved) {
        EXPECT_TRUE(fs::read_file("settings") == "dark=1");  // One failure, however much is there.
        return;
      }
      auto file = File::open("settings.new", OpenMode::writing());
      file.write("dark=1");
      if (variant == Variant::Correct) file.sync();
      fs::rename("settings.new", "settings");
      fs::sync_directory(".");
      saved = true;
      delay(1s);
    } catch (const InputOutputError&) {  // The disk is full, or broken.
    }
  });
  desk.may_crash();
  spawn_bystanders(3);
  world.run();
}

}  // namespace fermata::properties::zoo
