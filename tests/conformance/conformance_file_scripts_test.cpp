// SPDX-License-Identifier: Apache-2.0

// The simulated disk answers as Linux does: random scripts get the same answers, error texts
// included, from both reactors.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/splitmix.hpp"

namespace fermata::conformance {
namespace {

constexpr int kSteps = 200;

/// What one script is told, line by line.
class Script {
 public:
  Script(std::uint64_t seed, std::string root) : random_(seed), root_(std::move(root)) {}

  void run() {
    for (int step = 0; step < kSteps; ++step) {
      try {
        transcript_ += this->step() + "\n";
      } catch (const InputOutputError& error) {
        transcript_ += without_root(error.what()) + "\n";
      }
    }
  }

  [[nodiscard]] const std::string& transcript() const noexcept { return transcript_; }

 private:
  std::string step() {
    switch (random_.below(12)) {
      case 0:
        return open();
      case 1:
        files_.erase(random_.below(3));
        return "closed";
      case 2:
        return write();
      case 3:
        return read();
      case 4: {
        File& file = any_file();
        file.truncate(random_.below(30));
        return fmt_size(file.size());
      }
      case 5: {
        const std::string from = path();
        const std::string to = path();
        fs::rename(from, to);
        return "renamed " + without_root(from) + " to " + without_root(to);
      }
      case 6:
        fs::remove(path());
        return "removed";
      case 7:
        fs::remove_directory(path());
        return "removed a directory";
      case 8:
      case 9:
        fs::make_directory(path(), 0750);
        return "made a directory";
      case 10:
        return list();
      default:
        return status();
    }
  }

  /// One of few names, so that they meet; now and then with detours.
  std::string path() {
    static constexpr std::array kNames = {"a", "b", "c"};
    std::string path = root_;
    const std::size_t depth = 1 + random_.below(3);
    for (std::size_t i = 0; i < depth; ++i) {
      path += random_.once_in(10) ? "//" : "/";
      if (random_.once_in(12)) path += "./";
      if (i > 0 && random_.once_in(12)) path += "../";
      path += kNames[random_.below(kNames.size())];
    }
    if (random_.once_in(12)) path += "/";
    return path;
  }

  std::string open() {
    OpenMode mode;
    mode.read = random_.once_in(2);
    mode.write = !mode.read || random_.once_in(2);
    mode.create = mode.write && random_.once_in(2);
    mode.exclusive = mode.create && random_.once_in(4);
    mode.truncate = mode.write && random_.once_in(4);
    mode.append = mode.write && random_.once_in(4);
    const std::string opened = path();
    const std::size_t slot = random_.below(3);
    files_.insert_or_assign(slot, File::open(opened, mode));
    return "opened " + without_root(opened);
  }

  File& any_file() {
    const auto found = files_.find(random_.below(3));
    if (found == files_.end()) throw InputOutputError("no such file in the script");
    return found->second;
  }

  std::string write() {
    File& file = any_file();
    const std::string text(1 + random_.below(9), static_cast<char>('a' + random_.below(26)));
    if (random_.once_in(2)) {
      file.write(text);
    } else {
      file.write_at(random_.below(40), text);
    }
    return "wrote " + text + " at " + std::to_string(file.position());
  }

  std::string read() {
    File& file = any_file();
    if (random_.once_in(3)) file.seek(random_.below(40));
    std::string text(1 + random_.below(40), '-');
    const auto room = std::as_writable_bytes(std::span(text));
    text.resize(random_.once_in(2) ? file.read(room) : file.read_at(random_.below(40), room));
    return "read " + text + " until " + std::to_string(file.position());
  }

  std::string list() {
    std::string text = "listed";
    for (const auto& [name, type] : fs::list_directory(path())) {
      text += " " + name + (type == FileType::Directory ? "/" : "");
    }
    return text;
  }

  std::string status() {
    const FileStatus status = fs::status(path());
    const bool regular = status.type == FileType::Regular;
    return (regular ? fmt_size(status.size) : std::string("directory")) + " with permissions " +
           std::to_string(status.permissions);
  }

  static std::string fmt_size(std::uint64_t size) { return std::to_string(size) + " bytes"; }

  [[nodiscard]] std::string without_root(std::string text) const {
    if (root_.empty()) return text;
    for (std::size_t at = 0; (at = text.find(root_, at)) != std::string::npos;) {
      text.erase(at, root_.size());
    }
    return text;
  }

  test::SplitMix random_;
  std::string root_;
  std::map<std::size_t, File> files_;
  std::string transcript_;
};

template <class Arm>
std::string transcript(std::uint64_t seed, const std::string& root) {
  std::string text;
  Arm::run([&] {
    Script script(seed, root);
    script.run();
    text = script.transcript();
  });
  return text;
}

TEST(FileScripts, GetTheAnswersOfLinuxInSimulation) {
  FERMATA_CHECKS("IO-05");
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::string folder = ::testing::TempDir() + "fermata_scripts_XXXXXX";
    const std::string root = ::mkdtemp(folder.data());
    const std::string real = transcript<UvArm>(seed, root);
    std::filesystem::remove_all(root);
    ASSERT_EQ(transcript<SimArm>(seed, ""), real) << "seed " << seed;
  }
}

}  // namespace
}  // namespace fermata::conformance
