// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the disks of one run have held, for people: each file as programs saw it and as a crash
// would have left it, and when that changed.
//
// Memory   The last kMostChanges changes are kept, and of contents the first kMostBytes bytes.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/function_ref.hpp"
#include "fermata/base/time.hpp"

namespace fermata::sim {

/// What a file contains, as far as it is kept.
struct FileContents {
  static constexpr std::size_t kMostBytes = 64;

  explicit FileContents(std::span<const std::byte> all)
      : size(all.size()),
        bytes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(
                                             all.size() < kMostBytes ? all.size() : kMostBytes)) {}

  std::uint64_t size = 0;
  std::vector<std::byte> bytes;  // The first of them.

  friend bool operator==(const FileContents&, const FileContents&) = default;
};

/// One path of one disk.
struct FileState {
  std::string path;
  std::optional<FileContents> seen;     // Empty: programs see no such file.
  std::optional<FileContents> durable;  // Empty: a crash may leave no such file.
  /// Both are there and the same to the last byte.
  bool is_synced = false;

  friend bool operator==(const FileState&, const FileState&) = default;
};

class DiskLog {
 public:
  struct Change {
    std::string machine;
    FileState file;
    Instant at;
    /// How many steps had begun by then; one more for what a crash has done after the last.
    std::size_t step = 0;
  };

  static constexpr std::size_t kMostChanges = 100'000;

  // --- told by the run ---

  /// All files of a machine's disk, by their paths.
  void saw(std::string_view machine, const std::vector<FileState>& files, Instant at,
           std::size_t step);

  // --- the run ---

  [[nodiscard]] const std::deque<Change>& changes() const noexcept { return changes_; }
  /// The files that there were after those changes of which `has_come` says that they had happened,
  /// by machine and path.
  [[nodiscard]] std::vector<const Change*> files(
      fermata::detail::FunctionRef<bool(const Change&)> has_come) const;

 private:
  using Files = std::map<std::string, FileState, std::less<>>;

  void add(std::string_view machine, const FileState& file, Instant at, std::size_t step);

  std::map<std::string, Files, std::less<>> present_;  // By machine.
  std::deque<Change> changes_;
};

}  // namespace fermata::sim
