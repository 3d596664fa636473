// SPDX-License-Identifier: Apache-2.0
#include "tests/support/checks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>

namespace fermata::testing {
namespace {

/// The ids this process has noted, and the file it notes them in.
class Register {
 public:
  explicit Register(std::string folder) : folder_(std::move(folder)) {}

  void note(const char* id) {
    const std::lock_guard lock(mutex_);
    restart_after_fork();
    if (noted_.insert(id).second) append(std::string(id) + '\n');
  }

 private:
  void restart_after_fork() {
    if (pid_ == ::getpid()) return;
    pid_ = ::getpid();
    noted_.clear();
  }

  void append(const std::string& line) const {
    const std::string path = folder_ + '/' + std::to_string(pid_) + ".checks";
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    const bool written =
        file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    const int error = errno;
    if (file >= 0) ::close(file);
    if (!written) throw std::system_error(error, std::generic_category(), "cannot write " + path);
  }

  std::mutex mutex_;
  std::string folder_;
  std::set<std::string> noted_;
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
