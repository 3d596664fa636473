// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/disk_text.hpp"

#include <gtest/gtest.h>
#include <fermata/runtime.hpp>

#include <chrono>
#include <memory>
#include <string>

#include "tests/support/events.hpp"
#include "tests/support/watched_run.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::watched_run;

void write(const std::string& path, const std::string& text, bool durable) {
  File file = File::open(path, OpenMode::writing());
  file.write(text);
  if (!durable) return;
  file.sync();
  fs::sync_directory("/");
}

std::string disks_at_the_end(const test::Body& body) {
  const auto run_log = watched_run(body).run_log;
  return disk_text(*run_log, find_moment(*run_log, {}));
}

/// Without its first line, which names the moment.
std::string files_at_the_end(const test::Body& body) {
  const std::string text = disks_at_the_end(body);
  return text.substr(text.find('\n') + 1);
}

TEST(DiskText, MarksWhatACrashMayTake) {
  EXPECT_EQ(
      files_at_the_end([](World&) {
        write("/settings", "v1", true);
        write("/settings", "v2 and more", false);
      }),
      "  settings  seen \"v2 and more\" (11 bytes)  durable \"v1\" (2 bytes)  <- not durable\n");
}

TEST(DiskText, HasNoMarkWhereBothAreTheSame) {
  EXPECT_EQ(files_at_the_end([](World&) { write("/settings", "v1", true); }),
            "  settings  seen \"v1\" (2 bytes)  durable \"v1\" (2 bytes)\n");
}

TEST(DiskText, ShowsNamesThatAreNotDurable) {
  EXPECT_EQ(files_at_the_end([](World&) {
              write("/old", "x", true);
              fs::rename("/old", "/new");
              fs::make_directory("/folder");
              write("/folder/empty", "", false);
            }),
            "  folder/empty  seen empty         durable no file       <- not durable\n"
            "  new           seen \"x\" (1 byte)  durable no file       <- not durable\n"
            "  old           seen no file       durable \"x\" (1 byte)  <- not durable\n");
}

TEST(DiskText, ComparesAllBytesAndShowsTheFirst) {
  const std::string text = files_at_the_end([](World&) {
    write("/log", std::string(100, 'a'), true);
    File file = File::open("/log", OpenMode::updating());
    file.write_at(99, "b");
  });
  const std::string shown = '"' + std::string(32, 'a') + "...\" (100 bytes)";
  EXPECT_EQ(text, "  log  seen " + shown + "  durable " + shown + "  <- not durable\n");
}

TEST(DiskText, SaysWhenThereIsNothing) {
  EXPECT_EQ(disks_at_the_end([](World&) { delay(1ms); }),
            "files at the end of the run, +1 ms: none\n");
}

TEST(DiskText, IsAPartForEachMachine) {
  const std::string text = disks_at_the_end([](World& world) {
    world.node("other", [] { write("/of_other", "1", false); });
    write("/of_main", "2", false);
    world.run();
  });
  EXPECT_EQ(text.find("files of 'main' at the end of the run, +"), 0u) << text;
  EXPECT_LT(text.find("of_main"), text.find("files of 'other' at the end of the run, +")) << text;
  EXPECT_LT(text.find("files of 'other'"), text.find("of_other")) << text;
}

class DiskTextOfACrash : public ::testing::Test {
 protected:
  /// The machine 'desk' writes at first and crashes at 50 ms.
  static void crash(World& world) {
    Node& desk = world.node("desk", [] {
      if (now() < Instant{} + 5ms) {
        write("/settings", "v1", true);
        write("/settings", "v2", false);
      }
      delay(1s);
    });
    world.at(50ms, [&] { desk.crash(); });
    world.at(60ms, [&] { desk.restart(); });
    delay(100ms);
  }
  [[nodiscard]] std::string at(const Moment& moment) const {
    return disk_text(*run_log_, find_moment(*run_log_, moment));
  }

  std::shared_ptr<const RunLog> run_log_ = watched_run(&DiskTextOfACrash::crash).run_log;
};

TEST_F(DiskTextOfACrash, IsThatOfAnyTime) {
  EXPECT_EQ(at({.time = Instant{} + 40ms}),
            "files of 'desk' at +40 ms:\n"
            "  settings  seen \"v2\" (2 bytes)  durable \"v1\" (2 bytes)  <- not durable\n");
  const std::string afterwards = at({.time = Instant{} + 90ms});
  EXPECT_EQ(afterwards.find("not durable"), std::string::npos) << "a crash leaves what is durable";
}

TEST_F(DiskTextOfACrash, CountsTheCrashToTheNextStep) {
  std::uint64_t last = 0;
  for (const RunLog::Step& step : run_log_->steps()) {
    if (step.at <= Instant{} + 50ms) last = step.number;
  }
  EXPECT_NE(at({.step = last}).find("seen \"v2\" (2 bytes)  durable \"v1\" (2 bytes)  <-"),
            std::string::npos)
      << at({.step = last});
  EXPECT_EQ(at({.step = last + 1}).find("<-"), std::string::npos);
}

TEST_F(DiskTextOfACrash, RefusesAMomentThatIsNot) {
  EXPECT_NE(test::thrown_by([&] {
              static_cast<void>(at({.step = 9'999}));
            }).find("there is no step 9999; expected one from 1 to "),
            std::string::npos);
  EXPECT_NE(test::thrown_by([&] {
              static_cast<void>(at({.time = Instant{} + 1h}));
            }).find("there is no time +3600000 ms; the run ends at +"),
            std::string::npos);
}

}  // namespace
}  // namespace fermata::sim
