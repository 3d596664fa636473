// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of a reactor that watches files and directories.

#include <memory>
#include <string>
#include <string_view>

#include "fermata/reactor/file_watch.hpp"

namespace fermata::backend {

class FileWatches {
 public:
  virtual ~FileWatches() = default;

  /// The root is watched at once; what is below it, when `recursive`, after a walk, which a
  /// FileWatchRequest waits for. Throws InputOutputError "watch /x: No such file or directory" and
  /// UsageError on an invalid path.
  [[nodiscard]] Ref<FileWatch> open(std::string_view path, bool recursive);

 protected:
  explicit FileWatches(detail::Attachment& attachment) noexcept : attachment_(attachment) {}

  // --- hook ---

  /// A place that is not watched yet.
  virtual std::unique_ptr<WatchedPlace> make_place(FileWatch& watch, std::string name) = 0;

  // --- for the backend ---

  /// The system's queue has overflowed; any of the watches may have missed anything.
  void lost();

  detail::Attachment& attachment_;

 private:
  friend class FileWatch;

  FileWatch::List open_;
};

}  // namespace fermata::backend
