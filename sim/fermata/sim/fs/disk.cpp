// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fs/disk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "fermata/sim/base/key.hpp"

namespace fermata::sim {

namespace {
constexpr std::uint32_t kMask = 022;
}  // namespace

void Disk::format() {
  ++version_;
  ++life_;
  name_changes_.clear();
  changes_made_ = 0;
  watchers_.clear();
  locks_.clear();
  used_ = 0;
  now_ = {};
  next_ = kRoot + 1;
  if (std::exchange(touched_, false) || nodes_.size() != 1) make_root();
  FERMATA_ASSERT(room() == capacity_);
  FERMATA_ASSERT(std::as_const(*this).at(kRoot).names.empty());
}

void Disk::make_root() {
  const auto root = nodes_.try_emplace(kRoot).first;
  root->second = {};
  root->second.type = FileType::Directory;
  root->second.permissions = 0755;
  root->second.links = 1;
  root->second.parent = kRoot;
  nodes_.erase(std::next(root), nodes_.end());
}

// --- finding ---

FileStatus Disk::status(Inode inode) const {
  const Node& node = at(inode);
  return {.type = node.type,
          .size = node.image.seen().size(),
          .permissions = node.permissions,
          .links = attributes(inode).links,
          .modified = node.modified};
}

int Disk::status(const DiskPath& path, FileStatus& answer) const {
  Inode found = 0;
  if (const int code = find(path, found); code != 0) return code;
  answer = status(found);
  return 0;
}

int Disk::list(const DiskPath& path, std::vector<DirectoryEntry>& entries) const {
  Inode found = 0;
  if (const int code = find(path, found); code != 0) return code;
  if (!is_directory(found)) return ENOTDIR;
  for (const auto& [name, inode] : at(found).names) entries.push_back({name, at(inode).type});
  return 0;
}

// --- changing names ---

int Disk::open(const DiskPath& path, const OpenMode& mode, Inode& opened) {
  Place place;
  const Last last = mode.exclusive ? Last::IsTaken : Last::IsFollowed;
  if (const int code = walk(path, last, place); code != 0) return code;
  if (mode.create && place.must_be_directory && !place.name.empty()) return EISDIR;
  opened = find_in(place);
  if (opened == 0) {
    if (!mode.create) return ENOENT;
    if (const int code = refuse_new_name(place); code != 0) return code;
    opened = create(place, FileType::Regular, mode.permissions);
  } else {
    FERMATA_ASSERT(at(opened).links > 0 || is_directory(opened));
    if (mode.exclusive) return EEXIST;
    if (is_directory(opened) && mode.write) return EISDIR;
    if (is_fixed(opened) && (mode.write || mode.truncate)) return EROFS;
    if (!is_directory(opened) && place.must_be_directory) return ENOTDIR;
    if (at(opened).type == FileType::Other) return ENXIO;
    if (mode.truncate) static_cast<void>(truncate(opened, 0));
  }
  ++at(opened).opens;
  return 0;
}

Disk::Inode Disk::open_unnamed(std::uint32_t permissions) {
  const Inode inode = next_++;
  Node node;
  node.permissions = permissions;
  node.modified = node.accessed = node.changed = now_;
  node.key = key_of("file without a name");
  node.opens = 1;
  nodes_.emplace(inode, std::move(node));
  return inode;
}

void Disk::release(Inode inode) {
  FERMATA_ASSERT(at(inode).opens > 0);
  --at(inode).opens;
  forget_if_unused(inode);
}

int Disk::make_directory(const DiskPath& path, std::uint32_t permissions) {
  Place place;
  if (const int code = walk(path, Last::IsTaken, place); code != 0) return code;
  if (const int code = refuse_new_name(place); code != 0) return code;
  const Inode made = create(place, FileType::Directory, permissions);
  at(made).parent = place.directory;
  return 0;
}

Disk::Inode Disk::create(const Place& place, FileType type, std::uint32_t permissions) {
  FERMATA_ASSERT(!place.name.empty());
  FERMATA_ASSERT(find_in(place) == 0);
  const Inode inode = next_++;
  Node node;
  node.type = type;
  node.permissions = permissions & ~kMask;
  node.modified = node.accessed = node.changed = now_;
  node.key = key_of(at(place.directory).key, place.name);
  node.links = 1;
  nodes_.emplace(inode, std::move(node));
  change_names({.inode = inode, .removed = std::nullopt, .added = place, .moves_directory = false});
  FERMATA_ASSERT(find_in(place) == inode);
  return inode;
}

int Disk::remove(const DiskPath& path) {
  Place place;
  if (const int code = walk(path, Last::IsTaken, place); code != 0) return code;
  if (is_fixed(place.directory)) return EROFS;
  const Inode inode = find_in(place);
  if (inode == 0) return ENOENT;
  if (is_directory(inode)) return EISDIR;
  if (place.must_be_directory) return ENOTDIR;
  watchers_.tell(inode, DiskChange::Attributes, {}, false);
  change_names({.inode = inode, .removed = place, .added = std::nullopt, .moves_directory = false});
  FERMATA_ASSERT(find_in(place) == 0);
  --at(inode).links;
  at(inode).changed = now_;
  forget_if_unused(inode);
  return 0;
}

int Disk::remove_directory(const DiskPath& path) {
  Place place;
  if (const int code = walk(path, Last::IsTaken, place); code != 0) return code;
  const Inode inode = find_in(place);
  if (inode == 0) return ENOENT;
  if (!is_directory(inode)) return ENOTDIR;
  if (inode == kRoot) return EBUSY;
  if (is_fixed(inode) || is_fixed(place.directory)) return EROFS;
  if (place.name.empty()) return EINVAL;
  if (!at(inode).names.empty()) return ENOTEMPTY;
  change_names({.inode = inode, .removed = place, .added = std::nullopt, .moves_directory = false});
  FERMATA_ASSERT(find_in(place) == 0);
  at(inode).links = 0;
  watchers_.tell(inode, DiskChange::Gone, {}, true);
  return 0;
}

int Disk::rename(const DiskPath& from, const DiskPath& to, bool replaces) {
  Place source;
  Place destination;
  if (const int code = walk(from, Last::IsTaken, source); code != 0) return code;
  if (const int code = walk(to, Last::IsTaken, destination); code != 0) return code;
  if (source.name.empty()) return EBUSY;
  if (destination.name.empty()) return replaces ? EBUSY : EEXIST;
  if (is_fixed(source.directory) || is_fixed(destination.directory)) return EROFS;
  const Inode moved = find_in(source);
  const Inode replaced = find_in(destination);
  if (moved == 0) return ENOENT;
  if (!replaces && replaced != 0) return EEXIST;
  if (is_fixed(moved) || (replaced != 0 && is_fixed(replaced))) return EROFS;
  const bool as_directory = source.must_be_directory || destination.must_be_directory;
  if (as_directory && !is_directory(moved)) return ENOTDIR;
  if (moved == replaced) return 0;
  if (is_inside(destination.directory, moved)) return EINVAL;
  if (replaced != 0) {
    if (is_inside(source.directory, replaced)) return ENOTEMPTY;
    if (const int code = may_replace(moved, replaced); code != 0) return code;
    --at(replaced).links;
    at(replaced).changed = now_;
  } else if (!is_named(destination.directory)) {
    return ENOENT;
  }
  at(moved).changed = now_;
  change_names({.inode = moved,
                .removed = source,
                .added = destination,
                .moves_directory = is_directory(moved)});
  FERMATA_ASSERT(find_in(source) == 0);
  FERMATA_ASSERT(find_in(destination) == moved);
  if (replaced != 0 && !is_directory(replaced)) {
    watchers_.tell(replaced, DiskChange::Attributes, {}, false);
  }
  watchers_.tell(moved, DiskChange::MovedItself, {}, is_directory(moved));
  if (replaced != 0 && is_directory(replaced)) {
    watchers_.tell(replaced, DiskChange::Gone, {}, true);
  }
  if (is_directory(moved)) at(moved).parent = destination.directory;
  if (replaced != 0) forget_if_unused(replaced);
  return 0;
}

bool Disk::is_inside(Inode directory, Inode of) const {
  FERMATA_ASSERT(is_directory(directory));
  while (directory != of && directory != kRoot) directory = at(directory).parent;
  return directory == of;
}

int Disk::may_replace(Inode moved, Inode replaced) const {
  FERMATA_ASSERT(moved != replaced);
  if (!is_directory(moved)) return is_directory(replaced) ? EISDIR : 0;
  if (!is_directory(replaced)) return ENOTDIR;
  return at(replaced).names.empty() ? 0 : ENOTEMPTY;
}

void Disk::change_names(NameChange change) {
  ++version_;
  apply(change, nodes_, &Node::names);
  for (const std::optional<Place>& place : {change.removed, change.added}) {
    if (!place) continue;
    Node& directory = at(place->directory);
    directory.modified = directory.changed = now_;
  }
  tell_of_names(change);
  change.number = ++changes_made_;
  name_changes_.push_back(std::move(change));
}

void Disk::apply(const NameChange& change, std::map<Inode, Node>& nodes,
                 DirectoryNames Node::*names) {
  const auto names_of = [&](Inode directory) -> DirectoryNames& {
    return nodes.find(directory)->second.*names;
  };
  if (change.removed) names_of(change.removed->directory).erase(change.removed->name);
  if (change.added) names_of(change.added->directory)[change.added->name] = change.inode;
}

void Disk::forget_if_unused(Inode inode) {
  Node& node = at(inode);
  if (node.links > 0 || node.opens > 0 || node.memory != nullptr) return;
  watchers_.tell(inode, DiskChange::Gone, {}, false);
  FERMATA_ASSERT(used_ >= node.image.seen().size());
  used_ -= node.image.seen().size();
  node.image.forget_seen();
}

// --- watchers ---

int Disk::watch(const DiskPath& path, DiskWatcher& watcher, Inode& watched) {
  if (const int code = find(path, watched); code != 0) return code;
  watchers_.add(watched, watcher);
  return 0;
}

void Disk::tell_of_names(const NameChange& change) const {
  const auto tell = [&](const std::optional<Place>& place, DiskChange what) {
    if (place) watchers_.tell(place->directory, what, place->name, is_directory(change.inode));
  };
  const bool moves = change.removed && change.added;
  tell(change.removed, moves ? DiskChange::MovedAway : DiskChange::Vanished);
  tell(change.added, moves ? DiskChange::MovedHere : DiskChange::Appeared);
}

void Disk::note(Inode inode, DiskChange done) const {
  if (watchers_.empty()) return;
  FERMATA_ASSERT(inode != 0);
  const bool of_directory = is_directory(inode);
  watchers_.each_inode([&](Inode watched) {
    for (const auto& [name, entry] : at(watched).names) {
      if (entry == inode) watchers_.tell(watched, done, name, of_directory);
    }
  });
  watchers_.tell(inode, done, {}, of_directory);
}

// --- contents ---

int Disk::read(Inode inode, std::uint64_t offset, std::span<std::byte> to, std::size_t& moved) {
  if (is_directory(inode)) return EISDIR;
  take_in(inode);
  moved = at(inode).image.read(offset, to);
  return 0;
}

int Disk::write(Inode inode, std::uint64_t offset, std::span<const std::byte> bytes,
                std::size_t wanted, std::size_t& moved) {
  FERMATA_ASSERT(!is_directory(inode));
  FERMATA_ASSERT(bytes.size() <= wanted);
  take_in(inode);
  Node& node = at(inode);
  ++version_;
  const std::uint64_t before = node.image.seen().size();
  const std::uint64_t limit = before + room();
  if (bytes.size() > backend::kOffsetMax - offset) return EFBIG;
  if (!bytes.empty() && offset >= limit) return ENOSPC;
  moved = std::min<std::size_t>(bytes.size(), limit - std::min(limit, offset));
  const std::uint64_t end = moved > 0 ? std::max<std::uint64_t>(before, offset + moved) : before;
  if (node.memory != nullptr && !node.memory->resize(end)) return ENOMEM;
  node.image.write(offset, bytes.first(moved), moved < wanted);
  if (node.memory != nullptr) node.memory->write(offset, bytes.first(moved));
  used_ += node.image.seen().size() - before;
  node.modified = node.changed = now_;
  if (moved > 0) contents_changed(inode);
  return 0;
}

int Disk::truncate(Inode inode, std::uint64_t size) {
  if (is_fixed(inode)) return EROFS;
  if (size > at(inode).image.seen().size() + room()) return ENOSPC;
  take_in(inode);
  if (at(inode).memory != nullptr && !at(inode).memory->resize(size)) return ENOMEM;
  resize(inode, size);
  return 0;
}

void Disk::resize(Inode inode, std::uint64_t size) {
  ++version_;
  Node& node = at(inode);
  FERMATA_ASSERT(used_ >= node.image.seen().size());
  used_ = used_ - node.image.seen().size() + size;
  node.image.resize(size);
  FERMATA_ASSERT(node.image.seen().size() == size);
  node.modified = node.changed = now_;
  contents_changed(inode);
}

void Disk::contents_changed(Inode inode) {
  FERMATA_ASSERT(!is_directory(inode));
  at(inode).change = ++changes_made_;
  note(inode, DiskChange::Changed);
}

// --- what lasts ---

bool Disk::NameChange::touches(Inode directory) const noexcept {
  return (removed && removed->directory == directory) || (added && added->directory == directory);
}

void Disk::Ties::add(const NameChange& change) {
  inodes_.insert(change.inode);
  if (change.removed) places_.insert(*change.removed);
  if (change.added) places_.insert(*change.added);
  move_directories_ |= change.moves_directory;
}

bool Disk::Ties::bind(const NameChange& change) const {
  return inodes_.contains(change.inode) || (change.removed && places_.contains(*change.removed)) ||
         (change.added && places_.contains(*change.added)) ||
         (change.moves_directory && move_directories_);
}

int Disk::sync_directory(const DiskPath& path) {
  Inode directory = 0;
  if (const int code = find(path, directory); code != 0) return code;
  if (!is_directory(directory)) return ENOTDIR;
  sync_names(directory);
  came(detail::Occasion::DirectorySync, directory);
  return 0;
}

void Disk::came(detail::Occasion occasion, Inode inode) const {
  FERMATA_ASSERT(inode != 0);
  FERMATA_ASSERT(nodes_.contains(inode));
  if (occasions_ != nullptr) occasions_->came(occasion, path_of(inode));
}

void Disk::sync(Inode inode) {
  ++version_;
  take_in(inode);
  if (is_directory(inode)) {
    sync_names(inode);
    came(detail::Occasion::DirectorySync, inode);
  } else {
    at(inode).image.sync();
    came(detail::Occasion::Sync, inode);
  }
}

void Disk::sync_all() {
  ++version_;
  take_in_maps();
  for (const NameChange& change : std::exchange(name_changes_, {})) {
    apply(change, nodes_, &Node::durable_names);
  }
  FERMATA_ASSERT(at(kRoot).names == at(kRoot).durable_names);
  for (auto& [inode, node] : nodes_) node.image.sync();
  came(detail::Occasion::DirectorySync, kRoot);
}

void Disk::sync_names(Inode directory) {
  FERMATA_ASSERT(is_directory(directory));
  ++version_;
  Ties synced;
  std::vector<NameChange> durable;
  std::vector<NameChange> rest;
  for (auto change = name_changes_.rbegin(); change != name_changes_.rend(); ++change) {
    const bool goes = change->touches(directory) || synced.bind(*change);
    if (goes) synced.add(*change);
    (goes ? durable : rest).push_back(std::move(*change));
  }
  for (auto change = durable.rbegin(); change != durable.rend(); ++change) {
    apply(*change, nodes_, &Node::durable_names);
  }
  std::reverse(rest.begin(), rest.end());
  name_changes_ = std::move(rest);
}

void Disk::crash(const CrashDraw& draw, CrashListener* listener) {
  ++version_;
  ++life_;
  watchers_.clear();
  locks_.clear();
  crash_names(draw, listener);
  for (auto& [inode, node] : nodes_) {
    node.opens = 0;
    node.links = inode == kRoot ? 1 : 0;
    node.names = node.durable_names;
  }
  see_names_of(kRoot);
  std::erase_if(nodes_, [](const auto& entry) { return entry.second.links == 0; });
  used_ = 0;
  changes_made_ = 0;
  for (auto& [inode, node] : nodes_) {
    const bool told = listener != nullptr && node.image.changed();
    node.image.crash(draw, node.key, listener, told ? path_of(inode) : std::string());
    if (!node.is_given) used_ += node.image.seen().size();
  }
}

void Disk::crash_names(const CrashDraw& draw, CrashListener* listener) {
  Ties lost;
  const std::vector<NameChange> changes = std::exchange(name_changes_, {});
  for (const NameChange& change : changes) {
    const std::uint64_t key = key_of(at(change.inode).key, "name");
    const bool bound = lost.bind(change);
    if (bound || draw(key, 2) != 0) {
      lost.add(change);
      const std::uint64_t told = !bound && listener != nullptr ? listener->last_told() : 0;
      if (told == 0) continue;
      listener->tell(told, text(change) + listener->place() + " is lost" +
                               text_of_later_names(change, changes));
    } else {
      apply(change, nodes_, &Node::durable_names);
    }
  }
}

// --- for reports ---

std::vector<FileState> Disk::files() const {
  std::map<std::string, Inode> seen;
  std::map<std::string, Inode> durable;
  find_files(kRoot, "", &Node::names, seen);
  find_files(kRoot, "", &Node::durable_names, durable);
  std::map<std::string, FileState> files;
  for (const auto& [path, inode] : seen) files[path].seen.emplace(at(inode).image.seen());
  for (const auto& [path, inode] : durable) {
    FileState& file = files[path];
    file.durable.emplace(at(inode).image.durable());
    file.is_synced = file.seen && at(seen.at(path)).image.seen() == at(inode).image.durable();
  }
  std::vector<FileState> all;
  for (auto& [path, file] : files) {
    file.path = path;
    all.push_back(std::move(file));
  }
  return all;
}

void Disk::find_files(Inode directory, const std::string& path, DirectoryNames Node::*names,
                      std::map<std::string, Inode>& found) const {
  FERMATA_ASSERT(is_directory(directory));
  for (const auto& [name, inode] : at(directory).*names) {
    const std::string full = path.empty() ? name : path + '/' + name;
    if (is_directory(inode)) {
      find_files(inode, full, names, found);
    } else if (at(inode).type == FileType::Regular && !at(inode).is_given) {
      found.emplace(full, inode);
    }
  }
}

void Disk::see_names_of(Inode directory) {
  FERMATA_ASSERT(is_directory(directory));
  for (const auto& [name, inode] : at(directory).names) {
    Node& node = at(inode);
    ++node.links;
    if (node.type != FileType::Directory) continue;
    node.parent = directory;
    see_names_of(inode);
  }
}

// --- for people ---

std::string Disk::path_of(Inode inode) const {
  FERMATA_ASSERT(inode != 0);
  if (inode == kRoot) return {};
  for (const auto& [directory, node] : nodes_) {
    for (const auto& [name, entry] : node.names) {
      if (entry != inode) continue;
      return directory == kRoot ? name : path_of(directory) + "/" + name;
    }
  }
  return "a removed file";
}

std::string Disk::text(const Place& place) const {
  FERMATA_ASSERT(!place.name.empty());
  return place.directory == kRoot ? place.name : path_of(place.directory) + "/" + place.name;
}

std::string Disk::text(const NameChange& change) const {
  FERMATA_ASSERT(change.removed || change.added);
  const char* const kind = is_directory(change.inode)                        ? "directory"
                           : change.is_link                                  ? "name"
                           : at(change.inode).type == FileType::SymbolicLink ? "link"
                                                                             : "file";
  if (!change.removed) return fmt::format("the new {} '{}'", kind, text(*change.added));
  if (!change.added) return fmt::format("the removal of {} '{}'", kind, text(*change.removed));
  return fmt::format("the rename '{}' -> '{}'", text(*change.removed), text(*change.added));
}

// A file that is lost under its first name has no later one.
std::string Disk::text_of_later_names(const NameChange& lost,
                                      const std::vector<NameChange>& changes) const {
  const auto last = std::find_if(changes.rbegin(), changes.rend(), [&](const NameChange& each) {
    return each.inode == lost.inode && each.removed && each.added && each.number > lost.number;
  });
  return last == changes.rend() ? std::string()
                                : fmt::format(", with its rename to '{}'", text(*last->added));
}

std::string Disk::crash_point_text() const {
  if (changes_made_ == 0) return {};
  std::uint64_t last = 0;
  std::string text = "with everything synced";
  for (const auto& [inode, node] : nodes_) {
    if (node.links == 0 || !node.image.changed() || node.change < last) continue;
    last = node.change;
    text = fmt::format("after the write to '{}' and before its sync", path_of(inode));
  }
  if (!name_changes_.empty() && name_changes_.back().number > last) {
    text = fmt::format("after {} and before the sync of its directory",
                       this->text(name_changes_.back()));
  }
  return text;
}

}  // namespace fermata::sim
