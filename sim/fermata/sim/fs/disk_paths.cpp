// SPDX-License-Identifier: Apache-2.0

// How paths are resolved, and links.

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fermata/sim/fs/disk.hpp"

namespace fermata::sim {

namespace {
constexpr std::size_t kNameMax = 255;
}  // namespace

// --- paths ---

int Disk::walk(const DiskPath& path, Last last, Place& place) const {
  int links = 0;
  return walk(path, last, place, links);
}

int Disk::walk(const DiskPath& path, Last last, Place& place, int& links) const {
  std::string_view text = path.text;
  place = {};
  place.directory = text.starts_with('/') ? kRoot : path.from;
  FERMATA_ASSERT(is_directory(place.directory));
  while (!text.empty()) {
    const std::size_t slash = text.find('/');
    const std::string_view part = text.substr(0, slash);
    const bool has_slash = slash != std::string_view::npos;
    text.remove_prefix(has_slash ? slash + 1 : text.size());
    if (part.empty()) {
      place.must_be_directory = true;
      continue;
    }
    if (part.size() > kNameMax) return ENAMETOOLONG;
    if (const int code = descend(place, links); code != 0) return code;
    place.must_be_directory = has_slash;
    if (part == "..") {
      place.directory = at(place.directory).parent;
    } else if (part != ".") {
      place.name = part;
    }
  }
  FERMATA_ASSERT(is_directory(place.directory));
  return follow(place, last, links);
}

int Disk::descend(Place& place, int& links) const {
  if (place.name.empty()) return 0;
  if (const int code = follow(place, Last::IsFollowed, links); code != 0) return code;
  const Inode inode = find_in(place);
  if (inode == 0) return ENOENT;
  if (!is_directory(inode)) return ENOTDIR;
  place.directory = inode;
  place.name.clear();
  return 0;
}

/// To where a symbolic link leads that `place` is, if it is one.
int Disk::follow(Place& place, Last last, int& links) const {
  const Inode inode = find_in(place);
  if (inode == 0 || at(inode).type != FileType::SymbolicLink || last == Last::IsTaken) return 0;
  if (++links > kMostLinks) return ELOOP;
  const bool must_be_directory = place.must_be_directory;
  const DiskPath target(at(inode).target, place.directory);
  FERMATA_ASSERT(!target.text.empty());
  const int code = walk(target, Last::IsFollowed, place, links);
  place.must_be_directory |= must_be_directory;
  return code;
}

Disk::Inode Disk::find_in(const Place& place) const {
  FERMATA_ASSERT(is_directory(place.directory));
  if (place.name.empty()) return place.directory;
  const DirectoryNames& names = at(place.directory).names;
  const auto found = names.find(place.name);
  return found == names.end() ? 0 : found->second;
}

// A slash at the end asks for what a link leads to.
int Disk::find(const DiskPath& path, Inode& found, Last last) const {
  Place place;
  const Last wanted = path.text.ends_with('/') ? Last::IsFollowed : last;
  if (const int code = walk(path, wanted, place); code != 0) return code;
  found = find_in(place);
  if (found == 0) return ENOENT;
  return place.must_be_directory && !is_directory(found) ? ENOTDIR : 0;
}

bool Disk::exists(const DiskPath& path) const {
  Inode found = 0;
  return find(path, found) == 0;
}

/// Why no name can be made there, or 0.
int Disk::refuse_new_name(const Place& place) const {
  if (find_in(place) != 0) return EEXIST;
  if (is_fixed(place.directory)) return EROFS;
  FERMATA_ASSERT(!place.name.empty());
  return is_named(place.directory) ? 0 : ENOENT;
}

// --- links ---

int Disk::link(Inode linked, const DiskPath& path) {
  Place place;
  if (const int code = walk(path, Last::IsTaken, place); code != 0) return code;
  if (const int code = refuse_new_name(place); code != 0) return code;
  if (place.must_be_directory || !is_named(linked)) return ENOENT;
  if (is_directory(linked)) return EPERM;
  if (is_fixed(linked)) return EROFS;
  watchers_.tell(linked, DiskChange::Attributes, {}, false);
  change_names({.inode = linked, .removed = std::nullopt, .added = place, .is_link = true});
  FERMATA_ASSERT(find_in(place) == linked);
  Node& node = at(linked);
  ++node.links;
  FERMATA_ASSERT(node.links > 1);
  node.changed = now_;
  return 0;
}

int Disk::link(const DiskPath& existing, const DiskPath& path) {
  Inode linked = 0;
  const int code = find(existing, linked, Last::IsTaken);
  return code != 0 ? code : link(linked, path);
}

int Disk::make_link(std::string_view target, const DiskPath& path) {
  FERMATA_ASSERT(!target.empty());
  Place place;
  if (const int code = walk(path, Last::IsTaken, place); code != 0) return code;
  if (const int code = refuse_new_name(place); code != 0) return code;
  if (place.must_be_directory) return ENOENT;
  constexpr std::uint32_t kPermissions = 0777;
  const Inode made = create(place, FileType::SymbolicLink, kPermissions);
  at(made).permissions = kPermissions;
  at(made).target = target;
  return 0;
}

int Disk::make_socket(const DiskPath& path, std::uint32_t permissions, Inode& made) {
  Place place;
  if (const int code = walk(path, Last::IsTaken, place); code != 0) return code;
  if (const int code = refuse_new_name(place); code != 0) return code;
  if (place.must_be_directory) return ENOENT;
  made = create(place, FileType::Other, permissions);
  FERMATA_ASSERT(at(made).links == 1);
  at(made).permissions = permissions;
  return 0;
}

// --- attributes ---

Disk::Attributes Disk::attributes(Inode inode) const {
  const Node& node = at(inode);
  std::uint64_t links = node.links;
  if (node.type == FileType::Directory && links > 0) {
    links = 2 + static_cast<std::uint64_t>(std::count_if(
                    node.names.begin(), node.names.end(),
                    [this](const auto& entry) { return is_directory(entry.second); }));
  }
  const std::uint64_t size =
      node.type == FileType::SymbolicLink ? node.target.size() : node.image.seen().size();
  return {.type = node.type,
          .size = size,
          .permissions = node.permissions,
          .owner = node.owner,
          .group = node.group,
          .links = links,
          .modified = node.modified,
          .accessed = node.accessed,
          .changed = node.changed};
}

void Disk::set_permissions(Inode inode, std::uint32_t permissions) {
  FERMATA_ASSERT(permissions <= 07777);
  at(inode).permissions = permissions;
  at(inode).changed = now_;
}

void Disk::set_owner(Inode inode, std::uint32_t owner, std::uint32_t group) {
  Node& node = at(inode);
  node.owner = owner;
  node.group = group;
  node.changed = now_;
}

void Disk::set_times(Inode inode, WallTime accessed, WallTime modified) {
  Node& node = at(inode);
  node.accessed = accessed;
  node.modified = modified;
  node.changed = now_;
}

void Disk::note_access(Inode inode) {
  Node& node = at(inode);
  const std::int64_t changed = std::max(node.modified.nanoseconds, node.changed.nanoseconds);
  if (node.accessed.nanoseconds <= changed) node.accessed = now_;
}

}  // namespace fermata::sim
