// SPDX-License-Identifier: Apache-2.0
#pragma once

// The folder for what a worker writes before it is done with it, among the temporary files of its
// machine. A worker that is killed cannot remove it: the next one on that machine does.
//
// Owner     Has the file `lock` in it locked, with flock(2), for as long as it lives: the kernel
//           gives the lock back, however the owner ends, and no process is looked for by its
//           number.
// Removing  Whoever gets the lock removes the folder while it has it. A worker that has made its
//           folder and then finds its lock file removed makes the folder again.

#include <filesystem>
#include <string>

namespace fermata::sim::cli {

class ScratchFolder {
 public:
  /// Removes folders in `parent` that have lost their owner, and makes one for the worker `name`,
  /// which no other has. Throws InputOutputError when it cannot be made.
  ScratchFolder(const std::filesystem::path& parent, const std::string& name);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace fermata::sim::cli
