// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files for coroutines. Those that have no positions (pipes, terminals) are not files here.
//
// Suspension  open, read, write, sync, status, size, truncate, lock and try_lock suspend; nothing
//             else does.
// Ownership   A value that owns its file. Closing loses errors that the system has kept back, which
//             sync() tells; who is parked gets InputOutputError "Stream was closed". A write under
//             way is as one that is cancelled: it goes on when it has begun, and the file closes
//             behind it; else it does not happen. Nobody learns which, nor of its errors.
// Order       What one file is asked is done in the order of the calls; only read_at does not wait
//             for others. One write at a time, never mixed with another (IO-10).
// Cancelling  A read that is cancelled or times out moves nothing and leaves its buffer alone. A
//             write that has begun goes on to its end, only its report is lost; one that has not
//             does not happen.
// Locks       Those of flock(2), of the whole file: they keep away who else asks for one, in any
//             process of the machine, and nobody from reading or writing. A File has one at a time;
//             what opens the same file again competes for it, also in this program. Who gets a lock
//             that becomes free is left open. On a real system it is asked for again and again, at
//             first after 1 ms and in the end every 50 ms.
// Durability  A write is safe from a crash of the machine after sync(), a new file's name after
//             fs::sync_directory() of its directory.
// Errors      InputOutputError naming operation and path: "open /x: No such file or directory".

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fermata/core/suspend.hpp"
#include "fermata/io/file_lock.hpp"
#include "fermata/io/handle_owner.hpp"
#include "fermata/reactor/file.hpp"

namespace fermata {

enum class SyncMode : std::uint8_t {
  All,       // contents and everything that is known about them
  DataOnly,  // what is needed to read the contents again
};

class File : public detail::HandleOwner<backend::FileHandle> {
 public:
  using HandleOwner::HandleOwner;

  /// Throws UsageError on a path that is empty, longer than 4095 bytes or has a NUL, and on a mode
  /// that makes no sense.
  [[nodiscard]] static File open(std::string_view path, const OpenMode& mode = OpenMode::reading(),
                                 const WaitOptions& options = {},
                                 SourcePlace place = SourcePlace::current());

  /// Reads at the position and moves it. Returns how many bytes: at least 1, or 0 at the end; later
  /// there may be more.
  std::size_t read(std::span<std::byte> buffer, const WaitOptions& options = {},
                   SourcePlace place = SourcePlace::current());
  /// Reads at `offset`; the position stays.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> buffer,
                      const WaitOptions& options = {}, SourcePlace place = SourcePlace::current());

  /// Writes all of `data` at the position and moves it; at the end of a file that appends.
  void write(std::span<const std::byte> data, const WaitOptions& options = {},
             SourcePlace place = SourcePlace::current());
  void write(std::string_view text, const WaitOptions& options = {},
             SourcePlace place = SourcePlace::current()) {
    write(std::as_bytes(std::span(text)), options, place);
  }
  /// Writes all of `data` at `offset`; the position stays. A file that appends ignores `offset`.
  void write_at(std::uint64_t offset, std::span<const std::byte> data,
                const WaitOptions& options = {}, SourcePlace place = SourcePlace::current());
  void write_at(std::uint64_t offset, std::string_view text, const WaitOptions& options = {},
                SourcePlace place = SourcePlace::current()) {
    write_at(offset, std::as_bytes(std::span(text)), options, place);
  }

  /// Returns when what was written before is durable. After an error nobody knows what is.
  void sync(SyncMode mode = SyncMode::All, const WaitOptions& options = {},
            SourcePlace place = SourcePlace::current());

  [[nodiscard]] FileStatus status(const WaitOptions& options = {},
                                  SourcePlace place = SourcePlace::current());
  /// In bytes.
  [[nodiscard]] std::uint64_t size(const WaitOptions& options = {},
                                   SourcePlace place = SourcePlace::current()) {
    return status(options, place).size;
  }
  /// Cuts the file to `size` bytes, or makes it longer with zeros.
  void truncate(std::uint64_t size, const WaitOptions& options = {},
                SourcePlace place = SourcePlace::current());

  /// Waits until nobody else has a lock of the file, and takes one. One that is cancelled or times
  /// out has none. Throws UsageError when this File has one, or waits for one; InputOutputError
  /// where the file system has no locks.
  [[nodiscard]] FileLock lock(const WaitOptions& options = {},
                              SourcePlace place = SourcePlace::current());
  /// Takes a lock that others may have at the same time, if theirs are shared, too.
  [[nodiscard]] FileLock lock_shared(const WaitOptions& options = {},
                                     SourcePlace place = SourcePlace::current());
  /// Takes a lock, or returns nothing when somebody else has one. It suspends for the attempt, and
  /// does not wait for a lock.
  [[nodiscard]] std::optional<FileLock> try_lock(const WaitOptions& options = {},
                                                 SourcePlace place = SourcePlace::current());
  /// Takes a shared lock, or returns nothing when somebody else has an exclusive one.
  [[nodiscard]] std::optional<FileLock> try_lock_shared(const WaitOptions& options = {},
                                                        SourcePlace place = SourcePlace::current());

  /// In bytes from the beginning.
  [[nodiscard]] std::uint64_t position() const { return handle().position(); }
  /// May lie behind the end: a write there fills the gap with zeros.
  void seek(std::uint64_t position) { handle().seek(position); }

  [[nodiscard]] const std::string& path() const { return handle().path(); }
};

}  // namespace fermata
