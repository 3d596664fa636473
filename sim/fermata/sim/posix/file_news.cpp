// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/file_news.hpp"

#include <fcntl.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::uint32_t kKept = IN_ALL_EVENTS | IN_ONESHOT | IN_EXCL_UNLINK;

std::uint32_t mask_of(DiskChange change) noexcept {
  switch (change) {
    case DiskChange::Appeared:
      return IN_CREATE;
    case DiskChange::Vanished:
      return IN_DELETE;
    case DiskChange::Changed:
      return IN_MODIFY;
    case DiskChange::Gone:
      return IN_DELETE_SELF;
    case DiskChange::MovedHere:
      return IN_MOVED_TO;
    case DiskChange::MovedAway:
      return IN_MOVED_FROM;
    case DiskChange::MovedItself:
      return IN_MOVE_SELF;
    case DiskChange::Attributes:
      return IN_ATTRIB;
    case DiskChange::Opened:
      return IN_OPEN;
    case DiskChange::Read:
      return IN_ACCESS;
    case DiskChange::Closed:
      return IN_CLOSE_NOWRITE;
    case DiskChange::ClosedByWriter:
      return IN_CLOSE_WRITE;
  }
  return 0;
}

/// Whether the kernel tells of the thing itself whether it is a directory.
bool tells_directory(DiskChange change, std::string_view name) noexcept {
  return !name.empty() || (change != DiskChange::Gone && change != DiskChange::MovedItself);
}

}  // namespace

struct FileNews::Watch final : DiskWatcher {
  Watch(FileNews& o, int n) noexcept : owner(o), number(n) {}
  void disk_changed(DiskChange change, std::string_view name, bool is_directory) override {
    owner.happened(*this, change, name, is_directory);
  }

  FileNews& owner;
  int number;
  Disk::Inode inode = 0;
  std::uint32_t mask = 0;
  bool has_ended = false;  // It is still known to the disk, which cannot forget it while it tells.
};

FileNews::FileNews(Machine& machine, std::uint64_t serial, Disk& disk)
    : Description(machine, "inotify", serial), disk_(disk) {
  status = O_RDONLY;
}

FileNews::~FileNews() {
  for (const auto& [number, watch] : watches_) disk_.unwatch(watch->inode, *watch);
}

void FileNews::forget_ended() {
  for (auto each = watches_.begin(); each != watches_.end();) {
    Watch& watch = *each->second;
    if (watch.has_ended) disk_.unwatch(watch.inode, watch);
    each = watch.has_ended ? watches_.erase(each) : std::next(each);
  }
}

// Only one watch is there for a file, whatever its path.
int FileNews::watch(const DiskPath& path, std::uint32_t mask) {
  forget_ended();
  Disk::Inode inode = 0;
  const bool takes_link = (mask & IN_DONT_FOLLOW) != 0;
  const Disk::Last last = takes_link ? Disk::Last::IsTaken : Disk::Last::IsFollowed;
  if (const int code = disk_.find(path, inode, last)) return -code;
  const bool is_directory = disk_.attributes(inode).type == FileType::Directory;
  if ((mask & IN_ONLYDIR) != 0 && !is_directory) return -ENOTDIR;
  const auto known = std::find_if(watches_.begin(), watches_.end(),
                                  [&](const auto& each) { return each.second->inode == inode; });
  if (known != watches_.end()) {
    if ((mask & IN_MASK_CREATE) != 0) return -EEXIST;
    Watch& watch = *known->second;
    watch.mask = (mask & kKept) | ((mask & IN_MASK_ADD) != 0 ? watch.mask : 0);
    return watch.number;
  }
  auto made = std::make_unique<Watch>(*this, ++last_watch_);
  FERMATA_ASSERT(inode != 0);
  made->inode = inode;
  made->mask = mask & kKept;
  disk_.watch(inode, *made);
  return watches_.emplace(last_watch_, std::move(made)).first->first;
}

int FileNews::unwatch(int number) {
  forget_ended();
  const auto found = watches_.find(number);
  if (found == watches_.end()) return -EINVAL;
  ends(*found->second);
  forget_ended();
  return 0;
}

void FileNews::ends(Watch& watch) {
  FERMATA_ASSERT(!watch.has_ended);
  watch.has_ended = true;
  push({.watch = watch.number, .mask = IN_IGNORED, .name = {}});
}

// Both events of a move carry the number of the change, which is that of no other one.
void FileNews::happened(Watch& watch, DiskChange change, std::string_view name, bool is_directory) {
  FERMATA_ASSERT(&watch.owner == this);
  if (watch.has_ended) return;
  const std::uint32_t mask = mask_of(change);
  if ((watch.mask & mask) != 0) {
    const bool moves = (mask & IN_MOVE) != 0;
    const bool tells = is_directory && tells_directory(change, name);
    push({.watch = watch.number,
          .mask = mask | (tells ? std::uint32_t{IN_ISDIR} : 0),
          .cookie = moves ? static_cast<std::uint32_t>(disk_.changes_made() + 1) : 0,
          .name = std::string(name)});
    if ((watch.mask & IN_ONESHOT) != 0) return ends(watch);
  }
  if (change == DiskChange::Gone) ends(watch);
}

// News that repeats the last one, still unread, is told only once.
void FileNews::push(Event event) {
  const auto tell = [&](const Decision&) {
    return "news of '" + event.name + "' is lost" + machine().place();
  };
  const bool is_lost = events_.size() >= kMostEvents ||
                       machine().faults().strikes(Fault::WatchOverflow, backend::RandomStream::Disk,
                                                  key_of(key(), "overflow"), tell);
  FERMATA_ASSERT(event.watch > 0 && event.watch <= last_watch_);
  if (is_lost) event = {.mask = IN_Q_OVERFLOW, .name = {}};
  if (!events_.empty() && events_.back() == event) return;
  events_.push_back(std::move(event));
  changed(EPOLLIN);
}

// The name ends with a zero, and is filled up with zeros.
std::size_t FileNews::Event::size() const noexcept {
  constexpr std::size_t kUnit = sizeof(inotify_event);
  return kUnit + (name.empty() ? 0 : (name.size() + kUnit) / kUnit * kUnit);
}

ssize_t FileNews::read(std::span<const iovec> target) {
  if (target.empty()) return 0;
  if (events_.empty()) return -EAGAIN;
  const std::size_t room = size_of(target);
  std::vector<std::byte> bytes;
  while (!events_.empty() && bytes.size() + events_.front().size() <= room) {
    const Event& event = events_.front();
    const std::size_t begin = bytes.size();
    bytes.resize(begin + event.size());
    const inotify_event head = {
        .wd = event.watch,
        .mask = event.mask,
        .cookie = event.cookie,
        .len = static_cast<std::uint32_t>(event.size() - sizeof(inotify_event))};
    std::memcpy(&bytes[begin], &head, sizeof head);
    std::memcpy(bytes.data() + begin + sizeof head, event.name.data(), event.name.size());
    events_.pop_front();
  }
  FERMATA_ASSERT(bytes.size() <= room && bytes.size() % sizeof(inotify_event) == 0);
  if (bytes.empty()) return -EINVAL;
  scatter(bytes, target);
  return static_cast<ssize_t>(bytes.size());
}

int FileNews::readable_bytes() {
  std::size_t all = 0;
  for (const Event& event : events_) all += event.size();
  FERMATA_ASSERT(all <= kMostEvents * (sizeof(inotify_event) + NAME_MAX + 1));
  return static_cast<int>(all);
}

Readiness FileNews::readiness() { return events_.empty() ? 0 : Readiness{EPOLLIN}; }

}  // namespace fermata::sim::detail
