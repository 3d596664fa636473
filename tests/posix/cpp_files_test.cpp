// SPDX-License-Identifier: Apache-2.0

// Files of the C++ library in a simulated process.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class CppFiles : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
    EXPECT_FALSE(fs::exists("cpp"));
    EXPECT_FALSE(fs::exists("/cpp"));
  }

  static std::string text_in(const char* path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(CppFiles, AStreamWritesToTheDiskOfTheMachine) {
  run_alone([] {
    {
      std::ofstream file("cpp");
      ASSERT_TRUE(file.is_open());
      file << "one " << 2 << '\n';
      struct stat status = {};
      EXPECT_EQ(::stat("cpp", &status), 0);
      EXPECT_EQ(status.st_size, 0);  // It is buffered.
      file.flush();
      EXPECT_EQ(::stat("cpp", &status), 0);
      EXPECT_EQ(status.st_size, 6);
      file << "three";
    }
    EXPECT_EQ(text_in("cpp"), "one 2\nthree");
    const int descriptor = ::open("cpp", O_RDONLY);
    EXPECT_EQ(descriptor, 3);  // The streams have closed theirs.
  });
}

TEST_F(CppFiles, AStreamReadsWhatIsThere) {
  run_alone([] {
    std::ofstream("cpp") << "alpha 12\nsecond line\n";
    std::ifstream file("cpp");
    std::string word;
    std::string line;
    int number = 0;
    file >> word >> number;
    EXPECT_EQ(word, "alpha");
    EXPECT_EQ(number, 12);
    std::getline(file, line);
    EXPECT_TRUE(std::getline(file, line));
    EXPECT_EQ(line, "second line");
    EXPECT_FALSE(std::getline(file, line));
    EXPECT_TRUE(file.eof());
  });
}

TEST_F(CppFiles, AStreamSeeksAndChanges) {
  run_alone([] {
    std::ofstream("cpp") << "0123456789";
    std::fstream file("cpp");
    file.seekg(4);
    char digit = 0;
    file.get(digit);
    EXPECT_EQ(digit, '4');
    file.seekp(2);
    file << "xy";
    file.seekg(-1, std::ios::end);
    file.get(digit);
    EXPECT_EQ(digit, '9');
    EXPECT_EQ(file.tellg(), 10);
    file.close();
    EXPECT_EQ(text_in("cpp"), "01xy456789");
    std::ofstream("cpp", std::ios::app) << "+";
    std::ofstream("cpp", std::ios::app | std::ios::ate) << "-";
    EXPECT_EQ(text_in("cpp"), "01xy456789+-");
    std::ofstream("cpp", std::ios::trunc) << "new";
    EXPECT_EQ(text_in("cpp"), "new");
  });
}

TEST_F(CppFiles, AStreamMovesMuchData) {
  run_alone([] {
    const std::string much(200'000, 'm');
    std::ofstream("cpp") << much << "end";
    EXPECT_EQ(text_in("cpp"), much + "end");
    std::ifstream file("cpp");
    std::string read(much.size() + 3, '\0');
    file.read(read.data(), static_cast<std::streamsize>(read.size()));
    EXPECT_EQ(file.gcount(), static_cast<std::streamsize>(read.size()));
    EXPECT_EQ(file.peek(), std::ifstream::traits_type::eof());
  });
}

TEST_F(CppFiles, AStreamThatCannotBeOpenedFails) {
  run_alone([] {
    EXPECT_FALSE(std::ifstream("cpp").is_open());
    EXPECT_EQ(errno, ENOENT);
    EXPECT_FALSE(std::ofstream("none/cpp").is_open());
    EXPECT_FALSE(std::ofstream("/").is_open());
    std::fstream file("cpp");
    EXPECT_TRUE(file.fail());
    file.open("cpp", std::ios::in | std::ios::out | std::ios::trunc);
    EXPECT_TRUE(file.is_open());
  });
}

TEST_F(CppFiles, AStreamTakesTheTimeOfTheDisk) {
  run_alone([] {
    const Instant begun = now();
    std::ofstream("cpp") << "text";
    EXPECT_GE(now() - begun, 40us);
  });
}

TEST_F(CppFiles, AFullDiskFailsAStream) {
  bool has_failed = false;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    begin(seed, FaultSet::parse("disk-full"));
    world_->node("main", [&] {
      std::ofstream file("cpp");
      if (!file.is_open()) return;
      file << "text" << std::flush;
      has_failed |= file.bad();
    });
    run();
  }
  EXPECT_TRUE(has_failed);
}

TEST_F(CppFiles, ACrashLosesWhatAStreamHasNotWritten) {
  std::set<std::string> left;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    begin(seed);
    int life = 0;
    world_->service("main", [&] {
      if (++life == 2) {
        left.insert(text_in("cpp"));
        return;
      }
      std::ofstream file("cpp");
      file << "ab" << std::flush << "never";
      delay(1h);
    });
    world_->at(1s, [this] { world_->node("main").crash(); });
    world_->at(2s, [this] { world_->node("main").restart(); });
    world_->node("other", [] { delay(3s); });
    run();
  }
  EXPECT_EQ(left, (std::set<std::string>{"", "a", "ab"}));
}

TEST_F(CppFiles, AStreamThatOutlivesItsProcessCanBeClosed) {
  std::optional<std::ofstream> outliving(std::in_place);
  world_->node("main", [&] {
    outliving->open("cpp");
    *outliving << "text";
  });
  run();
  begin(2);
  *outliving << "more";
  outliving.reset();
  EXPECT_FALSE(fs::exists("cpp"));
}

TEST_F(CppFiles, DirectoriesAreThoseOfTheMachine) {
  run_alone([] {
    EXPECT_TRUE(fs::create_directories("cpp/a/b"));
    EXPECT_FALSE(fs::create_directories("cpp/a/b"));
    EXPECT_TRUE(fs::is_directory("cpp/a"));
    EXPECT_FALSE(fs::exists("cpp/none"));
    std::ofstream("cpp/a/one") << "12345";
    std::ofstream("cpp/a/two") << "";
    EXPECT_EQ(fs::file_size("cpp/a/one"), 5u);
    std::set<std::string> names;
    for (const auto& each : fs::directory_iterator("cpp/a")) {
      names.insert(each.path().string() + (each.is_directory() ? "/" : ""));
    }
    EXPECT_EQ(names, (std::set<std::string>{"cpp/a/b/", "cpp/a/one", "cpp/a/two"}));
    std::size_t below = 0;
    for ([[maybe_unused]] const auto& each : fs::recursive_directory_iterator("cpp")) ++below;
    EXPECT_EQ(below, 4u);
    EXPECT_EQ(fs::remove_all("cpp"), 5u);
    EXPECT_FALSE(fs::exists("cpp"));
    EXPECT_THROW(static_cast<void>(fs::file_size("cpp/a/one")), fs::filesystem_error);
  });
}

TEST_F(CppFiles, NamesAreThoseOfTheMachine) {
  run_alone([] {
    std::ofstream("cpp") << "text";
    fs::rename("cpp", "other");
    EXPECT_FALSE(fs::exists("cpp"));
    EXPECT_TRUE(fs::copy_file("other", "copy"));
    EXPECT_EQ(text_in("copy"), "text");
    fs::create_symlink("other", "link");
    EXPECT_EQ(fs::read_symlink("link"), "other");
    EXPECT_EQ(fs::canonical("link"), "/other");
    EXPECT_TRUE(fs::equivalent("link", "other"));
    fs::create_hard_link("other", "name");
    EXPECT_EQ(fs::hard_link_count("other"), 2u);
    fs::resize_file("name", 2);
    EXPECT_EQ(text_in("link"), "te");
    EXPECT_EQ(fs::current_path(), "/");
    fs::create_directory("folder");
    fs::current_path("folder");
    EXPECT_EQ(fs::absolute("x"), "/folder/x");
    EXPECT_EQ(fs::space("/").capacity, 256u << 20);
    EXPECT_TRUE(fs::remove("/copy"));
    EXPECT_FALSE(fs::remove("/copy"));
    std::error_code error;
    EXPECT_EQ(fs::temp_directory_path(error), fs::path());
    EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  });
}

TEST_F(CppFiles, AttributesAreThoseOfTheMachine) {
  run_alone([] {
    std::ofstream("cpp") << "text";
    const auto made = fs::last_write_time("cpp");
    delay(5s);
    std::ofstream("cpp", std::ios::app) << "more";
    EXPECT_GE(fs::last_write_time("cpp") - made, 5s);
    EXPECT_LE(fs::last_write_time("cpp") - made, 6s);
    fs::last_write_time("cpp", made);
    EXPECT_EQ(fs::last_write_time("cpp"), made);
    fs::permissions("cpp", fs::perms::owner_read);
    EXPECT_EQ(fs::status("cpp").permissions(), fs::perms::owner_read);
  });
}

}  // namespace
}  // namespace fermata::sim
