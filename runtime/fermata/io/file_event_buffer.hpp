// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/reactor/file_watch.hpp"

namespace fermata {

struct FileWatcherOptions {
  /// Everything below the directory, too.
  bool recursive = false;
  /// Whether several changes of one name before it is read become one event, in the place of the
  /// first, with the bits of all.
  bool coalesce = true;
  /// Everything becomes one event without a name, given when there was nothing new for so long.
  std::optional<Duration> debounce;
  /// The longest time until an event is delivered, even when new changes keep coming. At least
  /// `debounce`.
  std::optional<Duration> max_hold;
  /// Names with another extension are not told; a rescan always is. "txt" and ".TXT" mean the same;
  /// at most 15 bytes each. ".profile" has none. Empty: every name.
  std::vector<std::string> extensions;
};

namespace detail {

/// Events on their way from a watch to whoever asks for the next.
class FileEventBuffer {
 public:
  static constexpr std::size_t kExtensionMax = 15;

  /// Throws UsageError naming an option that makes no sense.
  explicit FileEventBuffer(const FileWatcherOptions& options);

  void add(const FileEvent& event, Instant now);
  /// When take() may be called: maybe not yet; never() when there is nothing.
  [[nodiscard]] Instant due() const noexcept;
  /// The oldest, whether it is due or not. REQUIRES: there is one.
  FileEvent take();
  /// Whether there is nothing to take, now or later.
  [[nodiscard]] bool empty() const noexcept {
    return events_.empty() && order_.empty() && !any(held_);
  }

 private:
  [[nodiscard]] bool passes(const std::string& name) const;

  bool coalesce_;
  std::optional<Duration> debounce_;
  std::optional<Duration> max_hold_;
  std::vector<std::string> extensions_;  // Lower case, without a dot.

  std::deque<FileEvent> events_;               // Not coalesced.
  std::deque<std::string> order_;              // Coalesced: names by their first event,
  std::map<std::string, FileChange> by_name_;  // and their bits.
  FileChange held_ = FileChange::None;         // With debounce.
  Instant first_;
  Instant last_;
};

}  // namespace detail
}  // namespace fermata
