// SPDX-License-Identifier: Apache-2.0
#pragma once

// Watches files and directories for coroutines.
//
//   fermata::FileWatcher watcher("/etc/app", {.recursive = true, .extensions = {"conf"}});
//   for (const fermata::FileEvent& event : watcher) reload(event.name);
//
// Promises    From the end of the constructor on every change is told at least once (FS-01), under
//             the name that it happened to, or by a rescan, an event without a name. What goes from
//             a directory that has only just come may be told by the directory's name alone.
// Suspension  The constructor, when recursive; next() and iteration. Nothing else does.
// Ownership   A value that owns its watch. After close(), which the destructor calls, what was told
//             before can still be taken; then it ends, for those who wait, too.
// Errors      When the root is removed or moved, or watching fails, what was told before is given
//             first; then next() throws. A file that is replaced by another of its name is gone:
//             watch its directory.
// Limits      8192 directories. Symbolic links are not followed, directories that may not be read
//             are left out.
// Source      FS-01 to 06.

#include <iterator>
#include <memory>
#include <optional>
#include <string_view>

#include "fermata/core/suspend.hpp"
#include "fermata/io/file_event_buffer.hpp"

namespace fermata {

class FileWatcher {
 public:
  using Value = FileEvent;
  class Iterator;

  /// Returns when everything is watched. Throws UsageError naming an option or a path that makes no
  /// sense, InputOutputError "watch /x: No such file or directory".
  explicit FileWatcher(std::string_view path, const FileWatcherOptions& options = {},
                       const WaitOptions& wait_options = {},
                       SourcePlace place = SourcePlace::current());
  FileWatcher(FileWatcher&&) noexcept = default;
  FileWatcher& operator=(FileWatcher&& other) noexcept;
  ~FileWatcher() { close(); }

  /// Waits for the next event; nothing after close(). Throws the error that the watch has ended
  /// with.
  [[nodiscard]] std::optional<FileEvent> next(const WaitOptions& options = {},
                                              SourcePlace place = SourcePlace::current());

  /// `for (FileEvent& event : watcher)` goes on until next() gives nothing.
  [[nodiscard]] Iterator begin();
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  /// Idempotent. What a debounce holds back is due at once.
  void close() noexcept;
  [[nodiscard]] bool is_open() const noexcept;

  /// Throws UsageError on a value that was moved from.
  [[nodiscard]] backend::FileWatch& handle() const;

 private:
  struct State;
  [[nodiscard]] const std::shared_ptr<State>& state() const;

  std::shared_ptr<State> state_;  // Who waits keeps it.
};

class FileWatcher::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using difference_type = std::ptrdiff_t;
  using value_type = FileEvent;

  explicit Iterator(FileWatcher& watcher) : watcher_(&watcher), event_(watcher.next()) {}

  [[nodiscard]] FileEvent& operator*() noexcept { return *event_; }
  [[nodiscard]] FileEvent* operator->() noexcept { return &*event_; }
  Iterator& operator++() {
    event_ = watcher_->next();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& iterator, std::default_sentinel_t) noexcept {
    return !iterator.event_;
  }

 private:
  FileWatcher* watcher_;
  std::optional<FileEvent> event_;
};

inline FileWatcher::Iterator FileWatcher::begin() { return Iterator(*this); }

}  // namespace fermata
