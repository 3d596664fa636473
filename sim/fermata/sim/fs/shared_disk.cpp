// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fs/shared_disk.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::sim::detail {
namespace {

bool is_inside(std::string_view path, std::string_view folder) {
  FERMATA_ASSERT(!folder.empty());
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

void SharedDisks::add(std::string_view path) {
  if (!path.starts_with('/') || path.ends_with('/')) {
    throw UsageError(
        fmt::format("share folder: '{}': expected an absolute path without a slash at its end, "
                    "such as /plan",
                    path));
  }
  for (const auto& [known, disk] : disks_) {
    if (!is_inside(path, known) && !is_inside(known, path)) continue;
    throw UsageError(
        fmt::format("share folder: '{}' and '{}' are one inside of the other: "
                    "expected folders apart",
                    path, known));
  }
  const auto made = std::make_shared<SharedDisk>();
  made->path = path;
  const bool is_new = disks_.emplace(path, made).second;
  FERMATA_ASSERT(is_new);
}

std::shared_ptr<SharedDisk> SharedDisks::find(std::string_view path) const noexcept {
  for (const auto& [known, disk] : disks_) {
    if (is_inside(path, known)) return disk;
  }
  return nullptr;
}

SharedDisk& SharedDisks::known(std::string_view path) const {
  const auto found = disks_.find(path);
  if (found == disks_.end()) {
    throw UsageError(fmt::format("crash folder: no folder '{}' is shared", path));
  }
  FERMATA_ASSERT(found->second->path == path);
  return *found->second;
}

}  // namespace fermata::sim::detail
