// SPDX-License-Identifier: Apache-2.0
#include "tests/support/checks.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

namespace fermata::testing {
namespace {

/// The ids this process has noted, and the file it notes them in.
class Register {
 public:
  explicit Register(std::string folder) : folder_(std::move(folder)) {}
  Register(const Register&) = delete;
  Register& operator=(const Register&) = delete;
  ~Register() {
    if (pid_ != ::getpid()) return;
    for (const auto& [what, more] : noted_) {
      if (more > 0) static_cast<void>(append(what + '\t' + std::to_string(more) + '\n'));
    }
  }

  void note(const char* id) {
    const std::lock_guard lock(mutex_);
    restart_after_fork();
    const std::string what = std::string(id) + '\t' + current_test();
    const auto [entry, first] = noted_.try_emplace(what, 0);
    if (!first) {
      ++entry->second;
    } else if (const int error = append(what + "\t1\n"); error != 0) {
      throw std::system_error(error, std::generic_category(), "cannot write to " + folder_);
    }
  }

 private:
  void restart_after_fork() {
    if (pid_ == ::getpid()) return;
    pid_ = ::getpid();
    noted_.clear();
  }

  static std::string current_test() {
    const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    if (test == nullptr) return "outside of a test";
    return std::string(test->test_suite_name()) + '.' + test->name();
  }

  /// Returns an errno value, 0 when the line has been written.
  [[nodiscard]] int append(const std::string& line) const {
    const std::string path = folder_ + '/' + std::to_string(pid_) + ".checks";
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    const bool written =
        file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    const int error = errno;
    if (file >= 0) ::close(file);
    return written ? 0 : error;
  }

  std::mutex mutex_;
  std::string folder_;
  std::map<std::string, std::uint64_t> noted_;  // Times after the first one, by id and test.
  pid_t pid_ = 0;
};

}  // namespace

void note_checks(std::initializer_list<const char*> ids) {
  static const char* const folder = std::getenv("FERMATA_CHECKS_OUT");
  if (folder == nullptr) return;
  static Register checks{folder};
  for (const char* id : ids) checks.note(id);
}

}  // namespace fermata::testing
