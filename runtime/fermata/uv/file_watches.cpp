// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/file_watches.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::uv::detail {

namespace {

constexpr std::uint32_t kAppeared = IN_CREATE | IN_MOVED_TO;
constexpr std::uint32_t kVanished = IN_DELETE | IN_MOVED_FROM;
constexpr std::uint32_t kChanged = IN_MODIFY | IN_ATTRIB;
constexpr std::uint32_t kGone = IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t kWatched = kAppeared | kVanished | kChanged | kGone;

}  // namespace

// --- InotifyPlace ---

int InotifyPlace::begin(const std::string& path) {
  const int watched = watches_.watch(*this, path);
  if (watched < 0) return -watched;
  descriptor_ = watched;
  FERMATA_ASSERT(descriptor_ > 0);
  return 0;
}

void InotifyPlace::end() noexcept {
  watches_.unwatch(*this);
  ended();
}

void InotifyPlace::report(const inotify_event& event, std::string_view name) {
  const bool is_directory = name.empty() ? is_directory_ : (event.mask & IN_ISDIR) != 0;
  if ((event.mask & (kGone | IN_UNMOUNT | IN_IGNORED)) != 0) {
    happened(What::Gone, {}, is_directory);
  } else if ((event.mask & kAppeared) != 0) {
    happened(What::Appeared, name, is_directory);
  } else if ((event.mask & kVanished) != 0) {
    happened(What::Vanished, name, is_directory);
  } else {
    happened(What::Changed, name, is_directory);
  }
}

// --- FileWatches ---

FileWatches::~FileWatches() {
  if (readable_ == nullptr) return;
  uv_close(reinterpret_cast<uv_handle_t*>(readable_),
           [](uv_handle_t* handle) noexcept { delete reinterpret_cast<uv_poll_t*>(handle); });
  ::close(inotify_);
}

std::unique_ptr<backend::WatchedPlace> FileWatches::make_place(backend::FileWatch& watch,
                                                               std::string name) {
  return std::make_unique<InotifyPlace>(*this, watch, std::move(name));
}

int FileWatches::open_queue() {
  if (inotify_ >= 0) return 0;
  FERMATA_ASSERT(readable_ == nullptr);
  const int queue = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (queue < 0) return errno;
  auto readable = std::make_unique<uv_poll_t>();
  if (const int code = uv_poll_init(loop_.get(), readable.get(), queue); code < 0) {
    ::close(queue);
    return -code;
  }
  inotify_ = queue;
  readable_ = readable.release();
  readable_->data = this;
  uv_poll_start(readable_, UV_READABLE, [](uv_poll_t* poll, int, int) noexcept {
    auto& watches = *static_cast<FileWatches*>(poll->data);
    watches.loop_.begin_callback();
    watches.collect();
  });
  return 0;
}

int FileWatches::watch(InotifyPlace& place, const std::string& path) {
  if (const int code = open_queue(); code != 0) return -code;
  const std::uint32_t directory =
      place.is_root() ? IN_ONLYDIR : static_cast<std::uint32_t>(IN_ONLYDIR | IN_DONT_FOLLOW);
  int watched = ::inotify_add_watch(inotify_, path.c_str(), kWatched | directory);
  if (watched < 0 && errno == ENOTDIR && place.is_root()) {
    place.is_directory_ = false;
    watched = ::inotify_add_watch(inotify_, path.c_str(), kWatched);
  }
  if (watched < 0) return -errno;
  places_[watched].push_back(&place);
  return watched;
}

void FileWatches::unwatch(InotifyPlace& place) noexcept {
  const auto found = places_.find(place.descriptor_);
  if (found == places_.end()) return;
  std::erase(found->second, &place);
  if (!found->second.empty()) return;
  ::inotify_rm_watch(inotify_, found->first);
  places_.erase(found);
}

void FileWatches::collect() noexcept {
  FERMATA_ASSERT(inotify_ >= 0);
  const std::span<std::byte> buffer = loop_.spare_buffer();
  const ssize_t size = ::read(inotify_, buffer.data(), buffer.size());
  std::size_t at = 0;
  while (size > 0 && at < static_cast<std::size_t>(size)) {
    inotify_event event;
    std::memcpy(&event, buffer.data() + at, sizeof event);
    const char* const name = reinterpret_cast<const char*>(buffer.data() + at + sizeof event);
    at += sizeof event + event.len;
    FERMATA_ASSERT(at <= static_cast<std::size_t>(size));
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
      lost();
    } else {
      dispatch(event, {name, ::strnlen(name, event.len)});
    }
  }
}

void FileWatches::dispatch(const inotify_event& event, std::string_view name) {
  const auto found = places_.find(event.wd);
  if (found == places_.end()) return;
  for (InotifyPlace* place : Places(found->second)) {
    const auto now = places_.find(event.wd);  // What one is told may end others.
    if (now == places_.end()) return;
    if (std::find(now->second.begin(), now->second.end(), place) == now->second.end()) continue;
    place->report(event, name);
  }
  if ((event.mask & IN_IGNORED) != 0) places_.erase(event.wd);
}

}  // namespace fermata::uv::detail
