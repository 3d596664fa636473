// SPDX-License-Identifier: Apache-2.0

// Walks through trees of files, and names that match a pattern: as Linux does it.

#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

#include "fermata/base/sanitizer.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

class Walks : public test::WorldFixture {
 protected:
  using Lines = std::vector<std::string>;

  /// What `look` tells in a directory of a simulated machine must be what it tells on Linux.
  void compare(Lines (*look)()) {
    std::string place = ::testing::TempDir() + "walks_XXXXXX";
    ASSERT_NE(::mkdtemp(place.data()), nullptr);
    char* const before = ::get_current_dir_name();
    ASSERT_EQ(::chdir(place.c_str()) + ::mkdir("home", 0755) + ::chdir("home"), 0);
    make_tree();
    const Lines real = look();
    const auto remove_one = [](const char* path, const struct stat*, int, FTW*) {
      return std::remove(path);
    };
    ASSERT_EQ(::chdir(before), 0);
    std::free(before);
    EXPECT_EQ(::nftw(place.c_str(), remove_one, 4, FTW_DEPTH | FTW_PHYS), 0);
    Lines simulated;
    world_->node("main", [&] {
      ASSERT_EQ(::mkdir("/home", 0755), 0);
      ASSERT_EQ(::chdir("/home"), 0);
      make_tree();
      simulated = look();
    });
    run();
    ASSERT_EQ(simulated.size(), real.size());
    EXPECT_FALSE(real.empty());
    for (std::size_t i = 0; i < real.size(); ++i) EXPECT_EQ(simulated[i], real[i]) << i;
  }

  // One entry in each directory where the order counts: it is not the same everywhere.
  static void make_tree() {
    for (const char* each : {"t", "t/d", "t/d/e", "t/d/e/f", "w", "w/sub"}) ::mkdir(each, 0755);
    for (const char* each : {"t/d/e/f/file", "w/a1", "w/a2", "w/b1", "w/.hidden", "w/sub/a1"}) {
      ::close(::open(each, O_CREAT | O_WRONLY, 0644));
    }
    EXPECT_EQ(::symlink("..", "t/d/e/f/up"), 0);
    EXPECT_EQ(::symlink("missing", "w/dangling"), 0);
  }

  inline static Lines lines;
  inline static int stop_at = 0;  // The type where a walk ends.
  inline static int answer = 0;   // What it then answers.

  static int visit(const char* path, const struct stat* status, int type, FTW* position) {
    std::array<char, 200> line = {};
    char* const current = ::get_current_dir_name();
    const std::string_view here = current;
    std::snprintf(line.data(), line.size(), "%s type %d base %d level %d mode %o in %s", path, type,
                  position->base, position->level,
                  type == FTW_NS ? 0u : static_cast<unsigned>(status->st_mode),
                  std::string(here.substr(here.rfind('/'))).c_str());
    std::free(current);
    lines.emplace_back(line.data());
    return type == stop_at ? answer : 0;
  }

  static int visit_simply(const char* path, const struct stat*, int type) {
    lines.push_back(std::string(path) + " type " + std::to_string(type));
    return 0;
  }

  static Lines walk_all() {
    Lines all;
    for (const int flags :
         std::initializer_list<int>{0, FTW_PHYS, FTW_DEPTH, FTW_PHYS | FTW_DEPTH | FTW_MOUNT}) {
      for (const char* path :
           {"t", "t/", "./t/d", "w/dangling", "w/a1", "none", "", "t/d/e/f/up"}) {
        lines.clear();
        errno = 0;
        lines.push_back(std::to_string(::nftw(path, visit, 3, flags)));
        if (lines.back() == "-1") lines.push_back("errno " + std::to_string(errno));
        std::sort(lines.begin(), lines.end() - (flags == 0 ? 0 : 1));
        all.insert(all.end(), lines.begin(), lines.end());
      }
    }
    return all;
  }

  static Lines walk_changing_directories() {
    lines.clear();
    lines.push_back(std::to_string(::nftw("w/sub", visit, 3, FTW_CHDIR)));
    lines.push_back(std::to_string(::nftw("w/sub", visit, 3, FTW_CHDIR | FTW_DEPTH)));
    char* const current = ::get_current_dir_name();
    lines.push_back(::access("w/sub", F_OK) == 0 ? "is back" : current);
    std::free(current);
    return lines;
  }

  static Lines walk_in_part() {
    lines.clear();
    for (const int flags :
         std::initializer_list<int>{0, FTW_ACTIONRETVAL, FTW_ACTIONRETVAL | FTW_DEPTH}) {
      for (const int type : {FTW_F, FTW_D, FTW_DP}) {
        for (const int result :
             std::initializer_list<int>{0, FTW_STOP, FTW_SKIP_SUBTREE, FTW_SKIP_SIBLINGS, 17}) {
          stop_at = type;
          answer = result;
          lines.push_back("answers " + std::to_string(::nftw("w/sub", visit, 3, flags)));
        }
      }
    }
    stop_at = answer = 0;
    EXPECT_EQ(::nftw("w", visit, 3, 1 << 20), -1);
    EXPECT_EQ(errno, EINVAL);
    return lines;
  }

  static Lines walk_simply() {
    lines.clear();
    lines.push_back(std::to_string(::ftw("w", visit_simply, 1)));
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  static Lines match_all() {
    Lines all;
#ifdef FERMATA_ASAN  // Its glob() looks for names in the room that GLOB_DOOFFS leaves.
    constexpr int kWithRoom = 0;
#else
    constexpr int kWithRoom = GLOB_DOOFFS;
#endif
    for (const int flags : std::initializer_list<int>{
             0, GLOB_MARK, GLOB_NOCHECK, GLOB_BRACE | GLOB_PERIOD, GLOB_ONLYDIR, kWithRoom,
             GLOB_ERR, GLOB_NOESCAPE | GLOB_NOMAGIC}) {
      for (const char* pattern : {"w/a*", "w/*", "w/?[12]", "*/*1", "w/{a,b}1", "none*", "w/a1",
                                  "t/*/e", "w/.*d*", "w/a1/*", "none/*", "./*", "w/\\a1"}) {
        glob_t found = {};
        found.gl_offs = 2;
        const int result = ::glob(pattern, flags, nullptr, &found);
        all.push_back(std::string(pattern) + " gives " + std::to_string(result) + " flags " +
                      std::to_string(found.gl_flags));
        for (std::size_t i = 0; result == 0 && i < found.gl_pathc; ++i) {
          all.emplace_back(found.gl_pathv[i + ((flags & GLOB_DOOFFS) != 0 ? found.gl_offs : 0)]);
        }
        ::globfree(&found);
      }
    }
    return all;
  }
};

TEST_F(Walks, GoThroughATreeAsOnLinux) { compare(walk_all); }
TEST_F(Walks, ChangeTheDirectoryAsOnLinux) { compare(walk_changing_directories); }
TEST_F(Walks, EndAsOnLinux) { compare(walk_in_part); }
TEST_F(Walks, OfFtwAreSimpler) { compare(walk_simply); }
TEST_F(Walks, APatternMatchesWhatItDoesOnLinux) { compare(match_all); }

TEST_F(Walks, AHomeIsThatOfTheSimulatedUser) {
  world_->node("main", [] {
    ASSERT_EQ(::mkdir("/root", 0755), 0);
    ::close(::open("/root/a", O_CREAT | O_WRONLY, 0644));
    for (const char* pattern : {"~/a", "~root/*"}) {
      glob_t found = {};
      ASSERT_EQ(::glob(pattern, GLOB_TILDE, nullptr, &found), 0);
      EXPECT_STREQ(found.gl_pathv[0], "/root/a");
      ::globfree(&found);
    }
    glob64_t found = {};
    EXPECT_EQ(::glob64("~nobody/a", GLOB_TILDE_CHECK, nullptr, &found), GLOB_NOMATCH);
    EXPECT_EQ(::glob64("~nobody/a", GLOB_TILDE | GLOB_NOCHECK, nullptr, &found), 0);
    EXPECT_STREQ(found.gl_pathv[0], "~nobody/a");
    ::globfree64(&found);
  });
  run();
}

}  // namespace
}  // namespace fermata::sim
