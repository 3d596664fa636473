// SPDX-License-Identifier: Apache-2.0
#pragma once

// Paths for coroutines: files as a whole, names and directories.
//
// Suspension  Each suspends.
// Paths       1 to 4095 bytes without a NUL; UsageError otherwise.
// Cancelling  What has not begun does not happen; what has begun goes on, only its report is lost.
// Errors      InputOutputError naming operation and path: "rename a to b: No such file or
//             directory".

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "fermata/reactor/file_operation.hpp"

namespace fermata::fs {

/// The status of what `path` leads to; a symbolic link is followed.
[[nodiscard]] FileStatus status(std::string_view path, const WaitOptions& options = {},
                                SourcePlace place = SourcePlace::current());

/// Replaces `to` in one step; who looks finds the old or the new.
void rename(std::string_view from, std::string_view to, const WaitOptions& options = {},
            SourcePlace place = SourcePlace::current());

/// Makes `name` another name of the file `existing`, a hard link. Fails with EEXIST when there is
/// something of that name: of several callers at most one succeeds. A network file system whose
/// reply was lost may report EEXIST for a link that it has made: FileStatus::links of `existing`
/// tells. EPERM for a directory, and where the file system knows no links; EXDEV when the two are
/// on different file systems.
void link(std::string_view existing, std::string_view name, const WaitOptions& options = {},
          SourcePlace place = SourcePlace::current());

/// Removes a name; not of a directory. Who has the file open keeps it.
void remove(std::string_view path, const WaitOptions& options = {},
            SourcePlace place = SourcePlace::current());

/// The process's mask takes some of `permissions` away.
void make_directory(std::string_view path, std::uint32_t permissions = 0755,
                    const WaitOptions& options = {}, SourcePlace place = SourcePlace::current());

/// Removes an empty directory.
void remove_directory(std::string_view path, const WaitOptions& options = {},
                      SourcePlace place = SourcePlace::current());

/// The entries of a directory, sorted by name, without "." and "..".
[[nodiscard]] std::vector<DirectoryEntry> list_directory(
    std::string_view path, const WaitOptions& options = {},
    SourcePlace place = SourcePlace::current());

/// Returns when the names in a directory are durable, as File::sync() for contents.
void sync_directory(std::string_view path, const WaitOptions& options = {},
                    SourcePlace place = SourcePlace::current());

/// All that is in a file, as it is read piece by piece.
[[nodiscard]] std::string read_file(std::string_view path, const WaitOptions& options = {},
                                    SourcePlace place = SourcePlace::current());

/// Makes `data` all that is in a file, which is created when there is none. Not durable, and
/// half done for those who look meanwhile: write another file, sync it and rename it for that.
void write_file(std::string_view path, std::span<const std::byte> data,
                const WaitOptions& options = {}, SourcePlace place = SourcePlace::current());
inline void write_file(std::string_view path, std::string_view text,
                       const WaitOptions& options = {},
                       SourcePlace place = SourcePlace::current()) {
  write_file(path, std::as_bytes(std::span(text)), options, place);
}

}  // namespace fermata::fs
