// SPDX-License-Identifier: Apache-2.0

// inotify(7): the same happens to files on Linux and in the world, and the same is told of it.

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

constexpr std::uint32_t kEverything = IN_ALL_EVENTS;

/// What an inotify has to tell, a line for each event; cookies are numbered.
class Reader {
 public:
  Reader() : descriptor_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}
  ~Reader() { ::close(descriptor_); }

  [[nodiscard]] int get() const { return descriptor_; }
  int add(const char* path, std::uint32_t mask = kEverything) {
    return ::inotify_add_watch(descriptor_, path, mask);
  }
  /// Whether versions of Linux differ in the order.
  enum class Order : std::uint8_t { Told, Any };

  /// Reads what has come since the last time, and says what has led to it.
  void read(const char* deed, Order order = Order::Told) {
    lines_.push_back(deed);
    const auto begin = static_cast<std::ptrdiff_t>(lines_.size());
    alignas(inotify_event) std::array<char, 4096> buffer{};
    for (;;) {
      int size = 0;
      EXPECT_EQ(::ioctl(descriptor_, FIONREAD, &size), 0);
      const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
      EXPECT_GE(size, got);
      if (got < 0) break;
      for (ssize_t at = 0; at < got;) at += note(&buffer[static_cast<std::size_t>(at)]);
    }
    EXPECT_EQ(errno, EAGAIN);
    if (order == Order::Any) std::sort(lines_.begin() + begin, lines_.end());
  }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  ssize_t note(const char* bytes) {
    inotify_event event;
    std::memcpy(&event, bytes, sizeof event);
    const int cookie = event.cookie == 0
                           ? 0
                           : cookies_.try_emplace(event.cookie, cookies_.size() + 1).first->second;
    std::array<char, 200> line{};
    std::snprintf(line.data(), line.size(), "  %d: %08x %d '%s' %u", event.wd, event.mask, cookie,
                  event.len > 0 ? bytes + sizeof event : "", event.len);
    lines_.emplace_back(line.data());
    return static_cast<ssize_t>(sizeof event + event.len);
  }

  int descriptor_;
  std::map<std::uint32_t, int> cookies_;
  std::vector<std::string> lines_;
};

void write_to(const char* path, int flags) {
  const int file = ::open(path, flags | O_WRONLY | O_CLOEXEC, 0644);
  EXPECT_EQ(::write(file, "text", 4), 4);
  EXPECT_EQ(::write(file, "more", 4), 4);
  EXPECT_EQ(::close(file), 0);
}

void read_from(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  std::array<char, 10> buffer{};
  EXPECT_EQ(::read(file, buffer.data(), buffer.size()), 8);
  EXPECT_EQ(::read(file, buffer.data(), buffer.size()), 0);
  EXPECT_EQ(::close(file), 0);
}

std::vector<std::string> contents_and_attributes() {
  Reader news;
  ::mkdir("in", 0755);
  EXPECT_EQ(news.add("in"), 1);
  write_to("in/file", O_CREAT);
  news.read("create and write");
  EXPECT_EQ(news.add("in/file"), 2);
  write_to("in/file", O_TRUNC);
  news.read("truncate and write", Reader::Order::Any);
  read_from("in/file");
  news.read("read");
  ::chmod("in/file", 0600);
  const std::array<timespec, 2> both = {timespec{1, 0}, timespec{2, 0}};
  const std::array<timespec, 2> accessed = {timespec{1, 0}, timespec{0, UTIME_OMIT}};
  const std::array<timespec, 2> modified = {timespec{0, UTIME_OMIT}, timespec{2, 0}};
  for (const auto& times : {both, accessed, modified}) {
    ::utimensat(AT_FDCWD, "in/file", times.data(), 0);
    news.read("attributes");
  }
  ::truncate("in/file", 2);
  news.read("truncate");
  ::close(::open("in/file", O_RDWR | O_CLOEXEC));
  ::close(::open("in/file", O_PATH | O_CLOEXEC));
  news.read("close");
  return news.lines();
}

std::vector<std::string> names() {
  Reader news;
  ::mkdir("a", 0755);
  ::mkdir("b", 0755);
  ::close(::open("a/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  ::close(::open("b/other", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  for (const char* path : {"a", "b", "a/file", "b/other"}) EXPECT_GT(news.add(path), 0);
  ::link("a/file", "b/name");
  news.read("link");
  ::symlink("nowhere", "b/symbolic");
  ::mkdir("b/folder", 0755);
  news.read("make");
  ::rename("a/file", "b/renamed file with a long name");
  news.read("move");
  ::rename("b/renamed file with a long name", "b/other");
  news.read("replace");
  ::rename("b/folder", "outside");
  ::rename("outside", "a/back");
  news.read("move away and back");
  ::rmdir("a/back");
  ::unlink("b/symbolic");
  ::unlink("b/name");
  news.read("remove");
  ::unlink("b/other");
  news.read("remove the last name", Reader::Order::Any);
  ::rmdir("a");
  news.read("remove a directory");
  EXPECT_EQ(::inotify_rm_watch(news.get(), 1), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(::inotify_rm_watch(news.get(), 2), 0);
  news.read("forget");
  return news.lines();
}

std::vector<std::string> masks() {
  Reader news;
  ::mkdir("in", 0755);
  ::close(::open("in/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  ::symlink("in", "symbolic");
  EXPECT_EQ(news.add("in", IN_CREATE), 1);
  EXPECT_EQ(news.add("symbolic", IN_DELETE | IN_MASK_ADD), 1);
  EXPECT_EQ(news.add("symbolic", IN_ATTRIB | IN_DONT_FOLLOW), 2);
  ::close(::open("in/new", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  ::unlink("in/new");
  news.read("create and delete");
  EXPECT_EQ(news.add("in", IN_MODIFY), 1);
  ::unlink("in/file");
  write_to("in/file", O_CREAT);
  news.read("modify alone");
  EXPECT_EQ(news.add("in/file", IN_ATTRIB | IN_ONESHOT), 3);
  ::chmod("in/file", 0600);
  ::chmod("in/file", 0644);
  news.read("one shot");
  EXPECT_EQ(news.add("in/file", IN_ALL_EVENTS), 4);
  const auto error_of = [&](const char* path, std::uint32_t mask) {
    return news.add(path, mask) == -1 ? errno : 0;
  };
  EXPECT_EQ(error_of("in/file", IN_OPEN | IN_ONLYDIR), ENOTDIR);
  EXPECT_EQ(error_of("in/file", IN_OPEN | IN_MASK_CREATE), EEXIST);
  EXPECT_EQ(error_of("in/file", IN_OPEN | IN_MASK_CREATE | IN_MASK_ADD), EINVAL);
  EXPECT_EQ(error_of("in/file", 0), EINVAL);
  EXPECT_EQ(error_of("missing", IN_OPEN), ENOENT);
  EXPECT_EQ(::inotify_add_watch(0, "in", IN_OPEN) == -1 ? errno : 0, EINVAL);
  EXPECT_EQ(::inotify_add_watch(900, "in", IN_OPEN) == -1 ? errno : 0, EBADF);
  EXPECT_EQ(::inotify_init1(1) == -1 ? errno : 0, EINVAL);
  ::chmod("in/file", 0600);
  std::array<char, 15> small{};
  EXPECT_EQ(::read(news.get(), small.data(), small.size()) == -1 ? errno : 0, EINVAL);
  news.read("errors");
  return news.lines();
}

class FileNews : public test::WorldFixture {
 protected:
  /// What `story` tells on Linux, in a folder that is empty.
  static std::vector<std::string> on_linux(std::vector<std::string> (*story)()) {
    std::string folder = ::testing::TempDir() + "file_news_XXXXXX";
    std::array<char, 4096> before{};
    EXPECT_NE(::getcwd(before.data(), before.size()), nullptr);
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    EXPECT_EQ(::chdir(folder.c_str()), 0);
    std::vector<std::string> lines = story();
    EXPECT_EQ(::chdir(before.data()), 0);
    static_cast<void>(std::system(("rm -rf " + folder).c_str()));
    return lines;
  }

  void expect_the_same(std::vector<std::string> (*story)()) {
    world_->node("main", [&] { EXPECT_EQ(story(), on_linux_); });
    on_linux_ = on_linux(story);
    run();
  }

  std::vector<std::string> on_linux_;
};

TEST_F(FileNews, IsLinuxsOfContentsAndAttributes) { expect_the_same(&contents_and_attributes); }

TEST_F(FileNews, IsLinuxsOfNames) { expect_the_same(&names); }

TEST_F(FileNews, IsLinuxsOfWhatWasAskedFor) { expect_the_same(&masks); }

TEST_F(FileNews, CanBeLost) {
  bool is_told = false;
  for (std::uint64_t seed = 1; seed <= 20 && !is_told; ++seed) {
    begin(seed, FaultSet::parse("watch-overflow"));
    world_->node("main", [&] {
      Reader news;
      ::mkdir("/in", 0755);
      EXPECT_EQ(news.add("/in", IN_CREATE | IN_DELETE), 1);
      for (int i = 0; i < 20; ++i) {
        ::mkdir("/in/new", 0755);
        ::rmdir("/in/new");
      }
      news.read("overflow");
      for (const std::string& line : news.lines()) {
        is_told = is_told || line.find("-1: 00004000") != std::string::npos;
      }
    });
    run();
  }
  EXPECT_TRUE(is_told);
}

}  // namespace
}  // namespace fermata::sim
