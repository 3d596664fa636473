// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is asked of a file system, and what it answers.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/ref.hpp"
#include "fermata/core/reactor.hpp"
#include "fermata/core/wait_facts.hpp"

namespace fermata {

namespace backend {
class FileHandle;
class FileRequest;
class StreamHandle;
}  // namespace backend

enum class FileType : std::uint8_t { Regular, Directory, SymbolicLink, Other };

struct FileStatus {
  FileType type = FileType::Other;
  std::uint64_t size = 0;         // In bytes; of a regular file.
  std::uint32_t permissions = 0;  // The lower twelve bits of the mode.
  std::uint64_t links = 0;        // Its names.
  WallTime modified;
};

struct DirectoryEntry {
  std::string name;
  FileType type = FileType::Other;

  friend bool operator==(const DirectoryEntry&, const DirectoryEntry&) = default;
};

/// How a file is opened. Not everything that can be said makes sense: what creates, empties or
/// appends must write, and what is exclusive must create.
struct OpenMode {
  bool read = false;
  bool write = false;
  bool create = false;     // When there is none.
  bool exclusive = false;  // Fails when there is one.
  bool truncate = false;   // Empties what is there.
  bool append = false;     // Each write lands at the end of the file, wherever that is then.
  /// Permissions of a file that is created; the process's umask takes some away.
  std::uint32_t permissions = 0644;

  /// A file that exists, from its beginning.
  [[nodiscard]] static constexpr OpenMode reading() noexcept { return {.read = true}; }
  /// An empty file.
  [[nodiscard]] static constexpr OpenMode writing() noexcept {
    return {.write = true, .create = true, .truncate = true};
  }
  /// A file that did not exist.
  [[nodiscard]] static constexpr OpenMode creating() noexcept {
    return {.read = true, .write = true, .create = true, .exclusive = true};
  }
  /// Opens an existing file to read it and change it in place.
  [[nodiscard]] static constexpr OpenMode updating() noexcept {
    return {.read = true, .write = true, .create = true};
  }
  /// Opens an existing file to append to it.
  [[nodiscard]] static constexpr OpenMode appending() noexcept {
    return {.write = true, .create = true, .append = true};
  }
};

namespace backend {

enum class FileCall : std::uint8_t {
  // Of an open file.
  Read,
  Write,
  Sync,
  SyncData,  // what is needed to read the contents again, and no more
  Status,
  Truncate,
  Lock,
  Close,
  // Of a path.
  Open,
  PathStatus,
  Rename,
  Link,
  Remove,
  MakeDirectory,
  RemoveDirectory,
  ListDirectory,
  SyncDirectory,
};

enum class FileLockKind : std::uint8_t {
  Shared,     // beside other shared ones
  Exclusive,  // alone
};

/// The operation's name in error texts: "read", "make directory", ...
[[nodiscard]] const char* to_string(FileCall call) noexcept;

/// One piece of work for a file system. It owns all that the work needs: whoever asked may vanish
/// (IO-08, CLOSE-10).
struct FileOperation {
  explicit FileOperation(FileCall c) noexcept;
  FileOperation(const FileOperation&) = delete;
  FileOperation& operator=(const FileOperation&) = delete;
  ~FileOperation();

  const FileCall call;
  std::string path;    // Of calls of a path.
  std::string target;  // Where Rename goes.
  OpenMode mode;       // Of Open; MakeDirectory takes the permissions.
  int file = -1;       // The backend's number, of calls of an open file.
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // Of Truncate; of Read for a sink, what it wants in all.
  /// The descriptor of a stream that Read sends to, or -1. The backend may send up to `length`
  /// bytes there, without waiting for room, and read what follows them.
  int sink_descriptor = -1;
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0;
  FileLockKind lock = FileLockKind::Exclusive;  // For Lock.
  bool waits = false;   // For Lock: while somebody else has one and the operation is not withdrawn.
  WaitPerson asked_by;  // For Lock, and for people.

  /// The bytes that are still to be transferred.
  [[nodiscard]] std::span<std::byte> rest() const noexcept {
    return std::span(bytes.get(), size).subspan(done);
  }

  // --- answers, of the backend ---

  std::uint64_t sent = 0;  // To the target.
  FileStatus status;
  std::vector<DirectoryEntry> entries;  // In any order, without "." and "..".

  // --- of what is shared ---

  std::size_t done = 0;
  Ref<FileHandle> handle;          // From its beginning to its end.
  FileRequest* request = nullptr;  // Null when it was abandoned, and for a sink.
  Ref<StreamHandle> sink;          // Gets what a Read reads.
  bool begun = false;
  bool in_line = false;      // Begins when what was submitted before has ended.
  bool at_position = false;  // The handle says where, when it begins.
  std::uint64_t seeks = 0;   // The handle's, when it began.
  void* job = nullptr;       // The backend's.
};

/// The longest path, in bytes.
inline constexpr std::size_t kPathMax = 4095;

/// The last byte that a file can have.
inline constexpr std::uint64_t kOffsetMax = 0x7fff'ffff'ffff'ffff;

// Each throws UsageError naming the operation, the value and what was expected.
/// 1 to kPathMax bytes without a NUL.
void require_path(std::string_view path, const char* operation);
void require_permissions(std::uint32_t permissions, FileCall call);
void require_offset(std::uint64_t offset, const char* operation);
void require_mode(const OpenMode& mode);

}  // namespace backend

}  // namespace fermata
