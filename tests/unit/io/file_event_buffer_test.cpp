// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/file_event_buffer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/checks.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;

constexpr FileChange kRename = FileChange::Rename;
constexpr FileChange kChange = FileChange::Change;
constexpr Instant kStart{1000};

std::vector<FileEvent> take_all(detail::FileEventBuffer& buffer) {
  std::vector<FileEvent> events;
  while (!buffer.empty()) events.push_back(buffer.take());
  return events;
}

TEST(FileEventBuffer, KeepsOneEventOfEachName) {
  FERMATA_CHECKS("FS-02");
  detail::FileEventBuffer buffer({});
  for (const auto& event : std::vector<FileEvent>{
           {kRename, "a"}, {kChange, "b"}, {kChange, "a"}, rescan_event(), {kChange, "b"}}) {
    buffer.add(event, kStart);
  }
  EXPECT_LE(buffer.due(), kStart);
  EXPECT_EQ(take_all(buffer),
            (std::vector<FileEvent>{{kRename | kChange, "a"}, {kChange, "b"}, {kChange, ""}}));
  buffer.add({kChange, "a"}, kStart);
  EXPECT_EQ(take_all(buffer), (std::vector<FileEvent>{{kChange, "a"}}));
  EXPECT_EQ(buffer.due(), Instant::never());
}

TEST(FileEventBuffer, KeepsEachEventWhenAskedTo) {
  detail::FileEventBuffer buffer({.coalesce = false});
  const std::vector<FileEvent> events = {{kRename, "a"}, {kChange, "a"}, {kRename, "a"}};
  for (const FileEvent& event : events) buffer.add(event, kStart);
  EXPECT_EQ(take_all(buffer), events);
}

TEST(FileEventBuffer, LooksAtTheLastExtension) {
  FERMATA_CHECKS("FS-06");
  detail::FileEventBuffer buffer({.coalesce = false, .extensions = {"gz", ".TXT"}});
  for (const char* name : {"a", "gz", ".gz", "a.gz", "a.tar.gz", "a.gz.tar", "a.gz/b", "a.b/c.txt",
                           "x.Txt", "x.txt~", "x."}) {
    buffer.add({kRename, name}, kStart);
  }
  buffer.add(rescan_event(), kStart);
  std::vector<std::string> names;
  for (const FileEvent& event : take_all(buffer)) names.push_back(event.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a.gz", "a.tar.gz", "a.b/c.txt", "x.Txt", ""}));
}

TEST(FileEventBuffer, FiltersBeforeItHoldsBack) {
  FERMATA_CHECKS("FS-06");
  detail::FileEventBuffer buffer({.debounce = 10ns, .extensions = {"txt"}});
  buffer.add({kRename, "a.log"}, kStart);
  EXPECT_TRUE(buffer.empty());
  buffer.add({kChange, "a.txt"}, kStart);
  buffer.add({kRename, "a.log"}, kStart + 9ns);
  EXPECT_EQ(buffer.due(), kStart + 10ns);
  EXPECT_EQ(take_all(buffer), (std::vector<FileEvent>{{kChange, ""}}));
}

TEST(FileEventBuffer, IsDueWhenItIsQuietOrTooLong) {
  FERMATA_CHECKS("FS-03");
  detail::FileEventBuffer buffer({.debounce = 10ns, .max_hold = 25ns});
  for (int i = 0; i < 4; ++i) {
    const Instant now = kStart + Duration(8 * i);
    buffer.add({i % 2 == 0 ? kRename : kChange, "a"}, now);
    EXPECT_EQ(buffer.due(), std::min(now + 10ns, kStart + 25ns));
  }
  EXPECT_EQ(take_all(buffer), (std::vector<FileEvent>{{kRename | kChange, ""}}));
  buffer.add({kChange, "a"}, kStart + 100ns);
  EXPECT_EQ(buffer.due(), kStart + 110ns);
}

}  // namespace
}  // namespace fermata
