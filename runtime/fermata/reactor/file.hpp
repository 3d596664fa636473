// SPDX-License-Identifier: Apache-2.0
#pragma once

// An open file.
//
// Line      Opening, reads and writes at the handle's position, all other writes, sync, status and
//           truncate stand in one line: each begins when what was submitted before it has ended, so
//           that at most one write is in flight (IO-10) and a sync covers every write before it.
//           One that fails does not block those behind it. Only reads at an offset of their own
//           pass the line by, once the file is open.
// Position  The handle's own; moved by the bytes that a read at it was taken with and a write at it
//           wrote. A handle that appends ignores offsets and leaves its position alone.
// Locks     At most one of the whole file; it stands in no line. A request that is abandoned leaves
//           none behind: the next one begins when it is known how that has ended.
// End       Not latched: a file may grow (IO-05).
// Writing   The rest of a short write is written before the next in line begins.
// Closing   Whoever waits gets "Stream was closed"; what has begun ends in silence and pins the
//           handle; then the backend closes (CLOSE-10).

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/reactor/files.hpp"
#include "fermata/reactor/io_handle.hpp"

namespace fermata::backend {

/// Opens a file.
class OpenRequest final : public FileRequest {
 public:
  OpenRequest(Files& files, std::string_view path, const OpenMode& mode);
  ~OpenRequest() override = default;

  /// The handle, usable at once: what is submitted before it is open waits, and fails with the
  /// opening. Dropped with the request unless somebody shares or takes it.
  [[nodiscard]] FileHandle& handle() noexcept { return *opened_; }
  [[nodiscard]] Ref<FileHandle> take() noexcept { return std::move(opened_); }

 private:
  OpenRequest(Ref<FileHandle> handle, const OpenMode& mode);
  static Ref<FileHandle> make_handle(Files& files, std::string_view path, const OpenMode& mode);

  Ref<FileHandle> opened_;
};

/// Reads at least one byte, or none at what is the end of the file now.
class FileReadRequest final : public FileRequest {
 public:
  /// At `offset`, or at the handle's position. The bytes come into `buffer` with completion, not
  /// before. Throws UsageError when `buffer` is empty.
  FileReadRequest(FileHandle& handle, std::span<std::byte> buffer,
                  std::optional<std::uint64_t> offset = std::nullopt);
  ~FileReadRequest() override;

  /// Accepts the bytes, once completed without an error: the position moves past them. Until then
  /// the line waits; a request that goes without it leaves the position where it was. Returns how
  /// many there are.
  std::size_t take() noexcept;

 private:
  friend class FileHandle;
  void succeeded(FileOperation& operation) override;

  Ref<FileHandle> file_;
  std::span<std::byte> buffer_;
};

/// Writes up to kTransferMax bytes of `data`, all of them, which are not needed after construction.
class FileWriteRequest final : public FileRequest {
 public:
  FileWriteRequest(FileHandle& handle, std::span<const std::byte> data,
                   std::optional<std::uint64_t> offset = std::nullopt);
  ~FileWriteRequest() override = default;
};

/// Sync, SyncData, Status or Truncate, to `length`.
class FileControlRequest final : public FileRequest {
 public:
  FileControlRequest(FileHandle& handle, FileCall call, std::uint64_t length = 0);
  ~FileControlRequest() override = default;

  /// The result of Status, once it has completed without an error.
  [[nodiscard]] const FileStatus& status() const noexcept { return status_; }

 private:
  void succeeded(FileOperation& operation) override;

  FileStatus status_;
};

/// Takes a lock of the whole file. One that is not taken with take() is given up.
class FileLockRequest final : public FileRequest {
 public:
  enum class Patience : std::uint8_t { Tries, Waits };

  /// With Patience::Tries it completes without a lock when somebody else has one. Throws UsageError
  /// when the handle has one already, or somebody waits for it.
  FileLockRequest(FileHandle& handle, FileLockKind kind, Patience patience);
  ~FileLockRequest() override;
  [[nodiscard]] std::string info() const override;

  /// Whether there is a lock, once completed without an error; it is the caller's to give up.
  [[nodiscard]] bool take() noexcept;

 private:
  Ref<FileHandle> file_;
  bool is_taken_ = false;
};

class FileHandle final : public IoHandle {
 public:
  /// The path under which the file was opened.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  [[nodiscard]] const OpenMode& mode() const noexcept { return mode_; }

  /// In bytes from the beginning. Throws InputOutputError on a closed file.
  [[nodiscard]] std::uint64_t position() const;
  /// For the operations at the position that begin from now on. Throws as position().
  void seek(std::uint64_t position);

  /// Whether it has a lock.
  [[nodiscard]] bool is_locked() const noexcept { return locked_; }
  /// Gives the lock up; nothing when there is none.
  void unlock() noexcept;

 private:
  friend class FileLockRequest;
  friend class FileReadRequest;
  friend class FileRequest;
  friend class Files;
  friend class OpenRequest;
  friend class StreamHandle;

  FileHandle(Files& files, std::string_view path, const OpenMode& mode);
  ~FileHandle() override = default;

  // --- of requests ---

  void submit(std::unique_ptr<FileOperation> operation);
  void abandon(FileOperation& operation) noexcept;
  static void refuse(FileOperation& operation, const std::exception_ptr& error) noexcept;
  /// The position may move on, to behind the bytes of `reader` or not.
  void settle(FileReadRequest& reader, std::size_t accepted) noexcept;

  // --- of Files ---

  void ended(std::unique_ptr<FileOperation> operation, int code, std::size_t moved) noexcept;

  [[nodiscard]] bool is_opened() const noexcept { return file_ >= 0; }
  void begin_next() noexcept;
  void begin(std::unique_ptr<FileOperation> operation) noexcept;
  bool written(std::unique_ptr<FileOperation>& operation, int& code, std::size_t moved) noexcept;
  void opening_ended(std::unique_ptr<FileOperation> operation, int code, std::size_t file) noexcept;
  void ended_after_close(const FileOperation& operation, int code, std::size_t file) noexcept;
  void require_no_lock() const;
  void lock_ended(FileOperation& operation, int code, bool granted) noexcept;
  void move_position(const FileOperation& operation) noexcept;
  void fail_parked() override;
  void fail_waiting(const std::exception_ptr& error) noexcept;
  void close_backend() noexcept override;
  void close_file() noexcept;

  Files& files_;
  std::string path_;
  OpenMode mode_;
  int file_ = -1;
  std::uint64_t position_ = 0;
  std::uint64_t seeks_ = 0;
  std::deque<std::unique_ptr<FileOperation>> line_;  // Not begun.
  std::vector<FileOperation*> running_;
  FileOperation* head_ = nullptr;       // Of the running ones, the one that holds up the line.
  FileReadRequest* untaken_ = nullptr;  // At the position, completed, not accepted yet.
  std::uint64_t untaken_seeks_ = 0;
  FileOperation* locking_ = nullptr;             // Not ended yet, maybe abandoned.
  std::unique_ptr<FileOperation> next_locking_;  // Begins when an abandoned one has ended.
  bool locked_ = false;
};

}  // namespace fermata::backend
