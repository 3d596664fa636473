// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/scratch_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::sim::cli {
namespace {

constexpr const char* kScratchPrefix = "fermata-work-";

int opened_lock(const std::filesystem::path& folder, int flags) {
  return ::open((folder / "lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

/// Whether the file is this user's, and still has a name.
bool is_own_and_there(int lock) {
  struct stat status {};
  return ::fstat(lock, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
         status.st_nlink > 0;
}

void wait_for(int lock) {
  while (::flock(lock, LOCK_EX) != 0) {
    if (errno != EINTR) throw InputOutputError("fleet work: lock the folder for scratch", errno);
  }
}

void remove_if_abandoned(const std::filesystem::path& folder) {
  const int lock = opened_lock(folder, 0);
  if (lock < 0) return;
  std::error_code ignored;
  if (is_own_and_there(lock) && ::flock(lock, LOCK_EX | LOCK_NB) == 0 && is_own_and_there(lock))
    std::filesystem::remove_all(folder, ignored);
  ::close(lock);
}

void remove_abandoned(const std::filesystem::path& parent) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const bool is_scratch = entry->path().filename().string().starts_with(kScratchPrefix);
    std::error_code unknown;
    if (is_scratch &&
        entry->symlink_status(unknown).type() == std::filesystem::file_type::directory)
      remove_if_abandoned(entry->path());
  }
}

}  // namespace

ScratchFolder::ScratchFolder(const std::filesystem::path& parent, const std::string& name)
    : path_(parent / (kScratchPrefix + name)) {
  FERMATA_ASSERT(!name.empty());
  remove_abandoned(parent);
  while (lock_ < 0) {
    if (::mkdir(path_.c_str(), 0755) != 0 && errno != EEXIST)
      throw InputOutputError("fleet work: make the folder " + path_.string(), errno);
    lock_ = opened_lock(path_, O_CREAT);
    if (lock_ < 0 && errno == ENOENT) continue;
    if (lock_ < 0) throw InputOutputError("fleet work: make a file in " + path_.string(), errno);
    wait_for(lock_);
    if (is_own_and_there(lock_)) return;
    ::close(lock_);
    lock_ = -1;
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  ::close(lock_);
}

}  // namespace fermata::sim::cli
