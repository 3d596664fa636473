// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "fermata/base/ref.hpp"
#include "fermata/reactor/file.hpp"

namespace fermata {

/// A lock of a file, from File::lock() and its relatives. Its end gives the lock up, unless the
/// close of the File, or its own unlock(), has done so before. It may outlive the File. Moves only.
class FileLock {
 public:
  /// No lock, as one that was moved from.
  FileLock() noexcept = default;
  /// The lock that `file` has.
  explicit FileLock(backend::FileHandle& file) noexcept
      : file_(Ref<backend::FileHandle>::share(file)) {}
  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&& other) noexcept {
    if (this != &other) {
      unlock();
      file_ = std::move(other.file_);
    }
    return *this;
  }
  ~FileLock() { unlock(); }

  /// Gives the lock up, at once and without suspending. Nothing when there is none.
  void unlock() noexcept {
    if (owns_lock()) file_->unlock();
    file_ = {};
  }

  [[nodiscard]] bool owns_lock() const noexcept {
    return file_ && !file_->is_closed() && file_->is_locked();
  }

 private:
  Ref<backend::FileHandle> file_;
};

}  // namespace fermata
