// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/file_watch.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/wait_facts.hpp"
#include "fermata/reactor/file_watches.hpp"

namespace fermata {

namespace {

std::string join(const std::string& directory, std::string_view name) {
  return directory.empty() ? std::string(name) : fmt::format("{}/{}", directory, name);
}

/// The name at the end of the path of a file. REQUIRES: no slash at its end.
std::string last_part(std::string_view path) {
  FERMATA_ASSERT(!path.ends_with('/'));
  return std::string(path.substr(path.rfind('/') + 1));
}

/// A directory that is no more, is none, or is not for us: nothing to watch.
bool is_left_out(int code) {
  return code == ENOENT || code == ENOTDIR || code == ELOOP || code == EACCES;
}

}  // namespace

std::string to_string(FileChange change) {
  const bool renamed = any(change & FileChange::Rename);
  const bool changed = any(change & FileChange::Change);
  if (renamed && changed) return "RENAME|CHANGE";
  if (renamed) return "RENAME";
  return changed ? "CHANGE" : "NONE";
}

namespace backend {

// --- FileWatchRequest ---

FileWatchRequest::FileWatchRequest(FileWatch& watch, FileWatchGoal goal)
    : Request(watch.runtime(), "watch"), watch_(Ref<FileWatch>::share(watch)), goal_(goal) {
  watch.await(*this);
}

void FileWatchRequest::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  facts.is("watch", watch_->path(), watch_->made_at());
  facts.outside("whoever changes files there");
}

FileWatchRequest::~FileWatchRequest() {
  if (is_completed()) return;
  const bool for_news = goal_ == FileWatchGoal::News;
  (for_news ? watch_->awaiting_news_ : watch_->awaiting_walk_).remove(*this);
}

// --- WatchedPlace ---

void WatchedPlace::happened(What what, std::string_view name, bool is_directory) {
  watch_.happened(*this, what, name, is_directory);
}

void WatchedPlace::ended() noexcept { watch_.place_ended(*this); }

// --- FileWatch::Listing ---

/// What is in one directory, asked of the part that does files.
class FileWatch::Listing {
 public:
  Listing(FileWatch& watch, Unlisted directory)
      : watch_(watch),
        directory_(std::move(directory)),
        request_(watch.runtime().reactor().files(), FileCall::ListDirectory,
                 watch.full_path(directory_.name)) {}

  void begin() {
    subscription_ = subscribe(
        request_, [this](Event&, const Outcome& outcome) { watch_.listing_ended(outcome.error); });
  }

  [[nodiscard]] const Unlisted& directory() const noexcept { return directory_; }
  [[nodiscard]] std::vector<DirectoryEntry> take_entries() noexcept {
    return request_.take_entries();
  }

 private:
  FileWatch& watch_;
  Unlisted directory_;
  PathRequest request_;
  Subscription subscription_;
};

// --- opening and closing ---

FileWatch::FileWatch(FileWatches& watches, std::string path, bool recursive)
    : Handle(watches.attachment_, EventKind::Io),
      watches_(watches),
      path_(std::move(path)),
      recursive_(recursive),
      walked_(!recursive) {
  watches_.open_.push_back(*this);
}

FileWatch::~FileWatch() {
  shut();
  FERMATA_ASSERT(unended_ == 0);
  FERMATA_ASSERT(awaiting_walk_.empty());
  FERMATA_ASSERT(awaiting_news_.empty());
}

void FileWatch::await(FileWatchRequest& request) {
  FERMATA_ASSERT(!request.is_completed());
  if (request.goal_ == FileWatchGoal::News) {
    if (is_ended()) return request.complete(0);
    awaiting_news_.push_back(request);
  } else if (is_ended()) {
    request.fail(error_ ? error_ : closed_error());
  } else if (walked_) {
    request.complete(0);
  } else {
    awaiting_walk_.push_back(request);
  }
}

std::string FileWatch::info() const { return fmt::format("FileWatch #{} ({})", serial(), path_); }

void FileWatch::fail_parked() { fail_waiters(closed_error()); }

std::exception_ptr FileWatch::closed_error() const {
  return std::make_exception_ptr(
      InputOutputError(fmt::format("watch {}: the watch was closed", path_)));
}

void FileWatch::close_backend() noexcept {
  FERMATA_ASSERT(!closing_);
  watches_.open_.remove(*this);
  stop();
  closing_ = true;
  if (unended_ == 0) close_acknowledged();
}

void FileWatch::place_ended(WatchedPlace& place) noexcept {
  const std::unique_ptr<WatchedPlace> gone(&place);
  FERMATA_ASSERT(unended_ > places_.size());
  if (--unended_ == 0 && closing_) close_acknowledged();
}

void FileWatch::stop() noexcept {
  FERMATA_ASSERT(places_.size() <= unended_);
  listing_.reset();
  unlisted_.clear();
  while (!places_.empty()) {
    WatchedPlace& place = *places_.begin()->second;
    places_.erase(places_.begin());
    place.end();
  }
}

void FileWatch::fail(int code) {
  FERMATA_ASSERT(code > 0);
  fail(std::make_exception_ptr(InputOutputError("watch " + path_, code)));
}

void FileWatch::fail(std::exception_ptr error) {
  FERMATA_ASSERT(error != nullptr);
  if (is_ended()) return;
  error_ = std::move(error);
  stop();
  fail_waiters(error_);
}

void FileWatch::fail_waiters(const std::exception_ptr& error) noexcept {
  while (FileWatchRequest* const request = awaiting_walk_.first()) {
    awaiting_walk_.remove(*request);
    request->fail(error);
  }
  complete_all(awaiting_news_);
}

void FileWatch::complete_all(FileWatchRequest::List& requests) noexcept {
  while (FileWatchRequest* const request = requests.first()) {
    requests.remove(*request);
    request->complete(0);
  }
}

// --- what is watched ---

std::string FileWatch::full_path(const std::string& name) const {
  return name.empty() ? path_ : fmt::format("{}/{}", path_, name);
}

int FileWatch::begin_place(const std::string& name) {
  FERMATA_ASSERT(!places_.contains(name));
  FERMATA_ASSERT(!is_ended());
  std::unique_ptr<WatchedPlace> place = watches_.make_place(*this, name);
  if (const int code = place->begin(full_path(name)); code != 0) return code;
  places_.emplace(name, place.release());
  ++unended_;
  return 0;
}

// A list of what is there no more would bring in places that nobody above them watches.
void FileWatch::drop(const std::string& name) noexcept {
  const std::string below = name + '/';
  if (listing_ != nullptr) {
    const std::string& listed = listing_->directory().name;
    if (listed == name || listed.starts_with(below)) listing_.reset();
  }
  const auto end = [this](std::map<std::string, WatchedPlace*>::iterator at) {
    WatchedPlace& place = *at->second;
    const auto next = places_.erase(at);
    place.end();
    return next;
  };
  if (const auto found = places_.find(name); found != places_.end()) end(found);
  for (auto at = places_.lower_bound(below); at != places_.end() && at->first.starts_with(below);) {
    at = end(at);
  }
}

void FileWatch::explore(const std::string& name, bool is_new) {
  if (is_ended() || places_.contains(name)) return;
  if (places_.size() >= kPlacesMax) {
    return fail(std::make_exception_ptr(InputOutputError(
        fmt::format("watch {}: expected at most {} directories below it", path_, kPlacesMax - 1))));
  }
  const int code = begin_place(name);
  if (code == 0) {
    unlisted_.push_back({name, is_new});
  } else if (!is_left_out(code)) {
    fail(code);
  }
}

void FileWatch::list_next() {
  FERMATA_ASSERT(recursive_);
  while (!listing_ && !unlisted_.empty()) {
    Unlisted next = std::move(unlisted_.front());
    unlisted_.pop_front();
    if (!places_.contains(next.name)) continue;
    if (full_path(next.name).size() > kPathMax) return fail(ENAMETOOLONG);
    listing_ = std::make_unique<Listing>(*this, std::move(next));
    listing_->begin();
  }
  if (!listing_ && !is_ended()) walk_ended();
}

void FileWatch::listing_ended(const std::exception_ptr& error) {
  FERMATA_ASSERT(listing_ != nullptr);
  last_listing_ = std::move(listing_);
  try {
    if (error) std::rethrow_exception(error);
    listed(last_listing_->directory(), last_listing_->take_entries());
  } catch (const InputOutputError& failure) {
    const bool machine_is_down = failure.code() == ECANCELED;
    if (!is_left_out(failure.code()) && !machine_is_down) fail(error);
  }
  list_next();
}

void FileWatch::listed(const Unlisted& directory, const std::vector<DirectoryEntry>& entries) {
  for (const DirectoryEntry& entry : entries) {
    if (is_ended()) return;
    const std::string name = join(directory.name, entry.name);
    if (directory.is_new) emit({FileChange::Rename, name});
    // Some file systems do not tell what an entry is.
    const bool maybe_directory = entry.type == FileType::Directory || entry.type == FileType::Other;
    if (maybe_directory) explore(name, directory.is_new);
  }
}

void FileWatch::walk_ended() {
  FERMATA_ASSERT(unlisted_.empty());
  FERMATA_ASSERT(listing_ == nullptr);
  walked_ = true;
  if (std::exchange(rescan_due_, false)) emit(rescan_event());
  complete_all(awaiting_walk_);
}

// --- what happens ---

void FileWatch::happened(const WatchedPlace& place, Report what, std::string_view name,
                         bool is_directory) {
  if (is_ended()) return;
  if (name.empty()) {
    if (!place.is_root()) return;  // The directory that it is in tells.
    if (!is_directory) {
      emit({what == Report::Gone ? FileChange::Rename : FileChange::Change, last_part(path_)});
    }
    if (what == Report::Gone) fail(ENOENT);
    return;
  }
  const std::string relative = join(place.name(), name);
  emit({what == Report::Changed ? FileChange::Change : FileChange::Rename, relative});
  if (!recursive_ || !is_directory || what == Report::Changed) return;
  drop(relative);
  if (what == Report::Appeared) explore(relative, true);
  list_next();
}

// What the queue still held of the old places is not reported any more: the RESCAN stands for it.
void FileWatch::lost() {
  if (is_ended()) return;
  stop();
  if (const int code = begin_place({}); code != 0) return fail(code);
  emit(rescan_event());
  if (!recursive_) return;
  rescan_due_ = true;
  unlisted_.push_back({});
  list_next();
}

void FileWatch::emit(FileEvent event) {
  try {
    notify({&event, nullptr});
  } catch (...) {
    runtime().report_unhandled(std::current_exception());
  }
  complete_all(awaiting_news_);
}

// --- FileWatches ---

Ref<FileWatch> FileWatches::open(std::string_view path, bool recursive) {
  require_path(path, "watch");
  auto watch = Ref<FileWatch>::adopt(*new FileWatch(*this, std::string(path), recursive));
  if (const int code = watch->begin_place({}); code != 0) {
    throw InputOutputError("watch " + watch->path_, code);
  }
  if (recursive) {
    watch->unlisted_.push_back({});
    watch->list_next();
  }
  return watch;
}

void FileWatches::lost() {
  for (FileWatch* watch = open_.first(); watch != nullptr; watch = FileWatch::List::after(*watch)) {
    watch->lost();
  }
}

}  // namespace backend

}  // namespace fermata
