// SPDX-License-Identifier: Apache-2.0
#include "tests/support/checks.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
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
    for (const auto& [what, more] : checked_) {
      if (more > 0) static_cast<void>(append(what + '\t' + std::to_string(more) + '\n'));
    }
    for (const auto& [what, place] : only_claimed_) {
      if (!checked_.contains(what)) static_cast<void>(append(what + ' ' + place + "\t0\n"));
    }
  }

  void note_checked(std::string_view id) {
    const std::lock_guard lock(mutex_);
    restart_after_fork();
    const std::string what = by_current_test(id);
    const auto [entry, first] = checked_.try_emplace(what, 0);
    if (!first) {
      ++entry->second;
    } else if (const int error = append(what + "\t1\n"); error != 0) {
      throw std::system_error(error, std::generic_category(), "cannot write to " + folder_);
    }
  }

  void note_only_claimed(std::string_view id, const std::string& place) {
    const std::lock_guard lock(mutex_);
    restart_after_fork();
    only_claimed_.emplace(by_current_test(id), place);
  }

 private:
  void restart_after_fork() {
    if (pid_ == ::getpid()) return;
    pid_ = ::getpid();
    checked_.clear();
    only_claimed_.clear();
  }

  static std::string by_current_test(std::string_view id) {
    const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string what(id);
    if (test == nullptr) return what + "\toutside of a test";
    return what + '\t' + test->test_suite_name() + '.' + test->name();
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
  std::map<std::string, std::uint64_t> checked_;     // Times after the first one, by id and test.
  std::map<std::string, std::string> only_claimed_;  // Places, by id and test.
  pid_t pid_ = 0;
};

/// Returns null when nothing is to be noted.
Register* the_register() {
  static const char* const folder = std::getenv("FERMATA_CHECKS_OUT");
  if (folder == nullptr) return nullptr;
  static Register checks{folder};
  return &checks;
}

// Claims whose block is not over, and how many of them do not hold yet.
std::mutex claims_mutex;
std::vector<Claim*> claims;
std::atomic<int> claims_without_assertion = 0;

/// Whether the running test need not assert what it claims.
bool test_ends_early() {
  return ::testing::Test::IsSkipped() || ::testing::Test::HasFailure() ||
         std::uncaught_exceptions() > 0;
}

}  // namespace

void note_checked(std::string_view id) {
  if (Register* const checks = the_register(); checks != nullptr) checks->note_checked(id);
}

int note_assertion(const char* file) noexcept {
  if (claims_without_assertion.load(std::memory_order_relaxed) == 0) return 0;
  const std::lock_guard lock(claims_mutex);
  for (Claim* const each : claims) {
    if (each->holds_ || std::string_view(each->file_) != file) continue;
    each->holds_ = true;
    --claims_without_assertion;
  }
  return 0;
}

Claim::Claim(const char* file, int line, std::initializer_list<const char*> ids)
    : file_(file), line_(line) {
  if (the_register() == nullptr) return;
  ids_ = ids;
  const std::lock_guard lock(claims_mutex);
  claims.push_back(this);
  ++claims_without_assertion;
}

Claim::~Claim() {
  Register* const checks = the_register();
  if (checks == nullptr) return;
  {
    const std::lock_guard lock(claims_mutex);
    std::erase(claims, this);
    if (!holds_) --claims_without_assertion;
  }
  if (!holds_ && test_ends_early()) return;
  const std::string place = std::string(file_) + ':' + std::to_string(line_);
  for (const char* const id : ids_) {
    if (holds_) {
      checks->note_checked(id);
    } else {
      checks->note_only_claimed(id, place);
    }
  }
}

}  // namespace fermata::testing
