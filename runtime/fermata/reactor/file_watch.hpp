// SPDX-License-Identifier: Apache-2.0
#pragma once

// Changes of a file, of a directory, or of all that is below a directory, while they happen.
//
// Events      A change notifies the subscribers of the watch, with a FileEvent as the result. What
//             has changed is reported at least once; how often, and with which bits, is the
//             system's affair. Nothing is reported of what only reads, and nothing of syncs.
// Recursion   One watched place for each directory, at most kPlacesMax; symbolic links are not
//             followed, directories that may not be read are left out. What is found in a directory
//             that appears is reported, too: it may have come before the watch did (FS-05).
// Losses      When the system's queue overflows, a RESCAN tells that anything may have changed, and
//             the places are watched anew.
// End         The watch ends with an error when its root is gone, or when it cannot watch what it
//             has to. It closes when each of its places was let go by the backend (CLOSE-07).
// Activity    That of its requests.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/intrusive_list.hpp"
#include "fermata/reactor/files.hpp"
#include "fermata/reactor/handle.hpp"
#include "fermata/reactor/request.hpp"

namespace fermata {

namespace backend {
class FileWatch;
class FileWatches;
}  // namespace backend

/// Kinds of changes, as a set of bits.
enum class FileChange : std::uint8_t {
  None = 0,
  Rename = 1,  // a name has come or gone: created, removed, moved
  Change = 2,  // contents or attributes
};

[[nodiscard]] constexpr FileChange operator|(FileChange a, FileChange b) noexcept {
  return static_cast<FileChange>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr FileChange operator&(FileChange a, FileChange b) noexcept {
  return static_cast<FileChange>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
constexpr FileChange& operator|=(FileChange& a, FileChange b) noexcept { return a = a | b; }
[[nodiscard]] constexpr bool any(FileChange change) noexcept { return change != FileChange::None; }
/// "RENAME|CHANGE".
[[nodiscard]] std::string to_string(FileChange change);

struct FileEvent {
  FileChange change = FileChange::None;
  /// Relative to the watched directory, "sub/note"; the last part of the path when a file is
  /// watched. Empty when anything may have changed.
  std::string name;

  friend bool operator==(const FileEvent&, const FileEvent&) = default;
};

/// The event for lost events of the system: the user has to look at everything again.
[[nodiscard]] inline FileEvent rescan_event() { return {FileChange::Change, {}}; }

namespace backend {

/// What a FileWatchRequest waits for.
enum class FileWatchGoal : std::uint8_t {
  Ready,  // everything is watched; fails when the watch ends before
  News,   // the next event, or the end of the watch; does not fail
};

class FileWatchRequest final : public Request {
 public:
  FileWatchRequest(FileWatch& watch, FileWatchGoal goal);
  ~FileWatchRequest() override;
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  friend class FileWatch;

  Ref<FileWatch> watch_;
  FileWatchGoal goal_;
  detail::Link<FileWatchRequest> link_;

 public:
  using List = detail::IntrusiveList<FileWatchRequest, &FileWatchRequest::link_>;
};

/// A directory, or a root that is a file, in the backend. Lives until it has ended.
class WatchedPlace {
 public:
  WatchedPlace(const WatchedPlace&) = delete;
  WatchedPlace& operator=(const WatchedPlace&) = delete;
  virtual ~WatchedPlace() = default;

  /// Relative to the root; empty for the root.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 protected:
  WatchedPlace(FileWatch& watch, std::string name) : watch_(watch), name_(std::move(name)) {}

  // --- hooks ---

  /// Begins to watch `path`. Only a root may be no directory, or reached through a symbolic link.
  /// Returns a positive errno value, or 0; then end() follows.
  virtual int begin(const std::string& path) = 0;
  /// Ends with one call of is_ended(), now or later; nothing else is reported any more.
  virtual void end() noexcept = 0;

  // --- for the backend, from inside a turn ---

  enum class What : std::uint8_t {
    Appeared,  // created or moved here
    Vanished,  // removed or moved away
    Changed,   // contents or attributes
    Gone,      // the place itself was removed or moved
  };
  /// `name` in this directory; empty for the place itself.
  void happened(What what, std::string_view name, bool is_directory);
  /// The place may be gone when this returns.
  void ended() noexcept;

  [[nodiscard]] bool is_root() const noexcept { return name_.empty(); }

 private:
  friend class FileWatch;

  FileWatch& watch_;
  std::string name_;
};

class FileWatch final : public Handle {
 public:
  /// Directories that one watch watches.
  static constexpr std::size_t kPlacesMax = 8192;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool is_recursive() const noexcept { return recursive_; }
  /// No event follows: it was closed, or ended with error().
  [[nodiscard]] bool is_ended() const noexcept { return is_closed() || error_; }
  /// Why it ended without being closed; null otherwise.
  [[nodiscard]] const std::exception_ptr& error() const noexcept { return error_; }
  /// Directories that are watched now.
  [[nodiscard]] std::size_t places() const noexcept { return places_.size(); }
  [[nodiscard]] std::string info() const override;

 private:
  friend class FileWatches;
  friend class FileWatchRequest;
  friend class WatchedPlace;
  using Report = WatchedPlace::What;
  class Listing;
  struct Unlisted {
    std::string name;
    bool is_new = false;  // What is in it is reported.
  };

  FileWatch(FileWatches& watches, std::string path, bool recursive);
  ~FileWatch() override;

  void fail_parked() override;
  void close_backend() noexcept override;

  void await(FileWatchRequest& request);
  int begin_place(const std::string& name);
  void explore(const std::string& name, bool is_new);
  void list_next();
  void listing_ended(const std::exception_ptr& error);
  void listed(const Unlisted& directory, const std::vector<DirectoryEntry>& entries);
  void walk_ended();
  void drop(const std::string& name) noexcept;
  void stop() noexcept;
  void happened(const WatchedPlace& place, Report what, std::string_view name, bool is_directory);
  void place_ended(WatchedPlace& place) noexcept;
  void lost();
  void emit(FileEvent event);
  void fail(int code);
  void fail(std::exception_ptr error);
  void fail_waiters(const std::exception_ptr& error) noexcept;
  static void complete_all(FileWatchRequest::List& requests) noexcept;
  [[nodiscard]] std::exception_ptr closed_error() const;
  [[nodiscard]] std::string full_path(const std::string& name) const;

  FileWatches& watches_;
  std::string path_;
  bool recursive_;
  bool walked_;              // Everything below the root is watched.
  bool rescan_due_ = false;  // At the end of the walk.
  bool closing_ = false;     // Waits for its places.
  std::exception_ptr error_;
  std::map<std::string, WatchedPlace*> places_;
  std::size_t unended_ = 0;  // Places, those that were dropped included.
  std::deque<Unlisted> unlisted_;
  std::unique_ptr<Listing> listing_;
  std::unique_ptr<Listing> last_listing_;  // Its pass may be running.
  FileWatchRequest::List awaiting_walk_;
  FileWatchRequest::List awaiting_news_;
  detail::Link<FileWatch> link_;

 public:
  using List = detail::IntrusiveList<FileWatch, &FileWatch::link_>;
};

}  // namespace backend

}  // namespace fermata
