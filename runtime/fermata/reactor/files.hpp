// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of a reactor that works with files and directories.
//
// Paths    1 to 4095 bytes without a NUL; UsageError otherwise. Relative ones begin at the working
//          directory of the process, in simulation at the root.
// Order    Between operations on paths none: whoever needs one waits. Those on one open file see
//          file.hpp.
// Backend  Implements the hooks, calls finished() from inside a turn.

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "fermata/reactor/file_operation.hpp"
#include "fermata/reactor/handle.hpp"
#include "fermata/reactor/request.hpp"

namespace fermata::backend {

class Files;

/// One operation on a file or a path. Its end before completion abandons the operation: what has
/// not begun does not happen; what has begun ends in silence, in memory of its own.
class FileRequest : public Request {
 public:
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

 protected:
  FileRequest(Files& files, FileCall call);
  FileRequest(FileHandle& handle, FileCall call);
  ~FileRequest() override;

  /// The operation to perform, until it is submitted; the same object as in the handle's queue.
  [[nodiscard]] FileOperation& operation() noexcept { return *operation_; }
  void submit();

  /// The operation has ended well.
  virtual void succeeded(FileOperation& operation) { complete(operation.done); }

 private:
  friend class FileHandle;
  friend class Files;

  void ended(FileOperation& operation, int code) noexcept;
  void ended(std::exception_ptr error) noexcept;

  Files& files_;
  Ref<FileHandle> handle_;
  std::unique_ptr<FileOperation> unsubmitted_;
  FileOperation* operation_;  // Null when it has ended.
};

/// An operation on a path.
class PathRequest final : public FileRequest {
 public:
  /// PathStatus, Remove, RemoveDirectory, ListDirectory or SyncDirectory of `path`. Remove takes
  /// anything but a directory.
  PathRequest(Files& files, FileCall call, std::string_view path);

  [[nodiscard]] static PathRequest rename(Files& files, std::string_view from, std::string_view to);
  [[nodiscard]] static PathRequest link(Files& files, std::string_view from, std::string_view to);
  [[nodiscard]] static PathRequest make_directory(Files& files, std::string_view path,
                                                  std::uint32_t permissions);

  /// The result of PathStatus, once it has completed without an error; a symbolic link is followed.
  [[nodiscard]] const FileStatus& status() const noexcept { return status_; }
  /// The result of ListDirectory, once it has completed without an error; sorted by name, without
  /// "." and "..".
  [[nodiscard]] std::vector<DirectoryEntry> take_entries() noexcept { return std::move(entries_); }

 private:
  PathRequest(Files& files, FileCall call, std::string_view path, std::string_view target,
              std::uint32_t permissions);
  void succeeded(FileOperation& operation) override;

  FileStatus status_;
  std::vector<DirectoryEntry> entries_;
};

class Files {
 public:
  virtual ~Files() = default;

  /// Operations whose backend has not finished, those of vanished requests included.
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }

 protected:
  explicit Files(detail::Attachment& attachment) noexcept : attachment_(attachment) {}

  // --- hooks; error codes are positive errno values, 0 for success ---

  /// Begins `operation`, which stays valid until finished() is called for it, once. Answers a code
  /// when it cannot; then finished() is not called.
  virtual int enqueue(FileOperation& operation) = 0;
  /// Takes `operation` back when that is possible; finished() follows all the same, with ECANCELED
  /// when it was. Idempotent: the end of a request and the close of its file both call it.
  virtual void withdraw(FileOperation& operation) noexcept = 0;
  /// Gives up the lock of an open file, at once.
  virtual void unlock(int file) noexcept = 0;
  /// Tells a report who keeps a Lock waiting.
  virtual void explain_lock(const FileOperation&, WaitFacts& facts) const;

  // --- for the backend ---

  /// `moved` is how many bytes of rest() were moved, the number of the file that was opened, or 1
  /// for a lock that was taken, 0 when somebody else has one.
  void finished(FileOperation& operation, int code, std::size_t moved = 0) noexcept;

  detail::Attachment& attachment_;

 private:
  friend class FileHandle;
  friend class FileRequest;

  void submit(std::unique_ptr<FileOperation> operation) noexcept;

  std::size_t in_flight_ = 0;
};

}  // namespace fermata::backend
