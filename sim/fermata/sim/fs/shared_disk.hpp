// SPDX-License-Identifier: Apache-2.0
#pragma once

// Folders that the machines of a world share, as a server gives them over a network. Each is a disk
// of its own, which all machines see at the same path.
//
// Effect    A call takes effect whole, at the server. A machine that crashes takes nothing back.
// Answers   The fault `lost-reply` loses the answer to a call that changes names: it is made again,
//           and answered as of what the first has done.
// Looks     The fault `stale-folder` shows a machine a directory as it saw it some time ago, and
//           refuses with ESTALE what is asked of an open file whose name is gone.
// Times     Are those of the server, whose clock is right.
// Missing   Real NFS's caches of contents and attributes; watches; foreign code sees none of it.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/sim/fs/disk.hpp"

namespace fermata::sim::detail {

struct SharedDisk {
  /// A directory, as a machine saw it.
  struct Listing {
    Instant seen;
    std::vector<DirectoryEntry> entries;
  };

  /// The machine has changed names: what it saw is not what it sees.
  void forget_listings(std::uint32_t machine) {
    std::erase_if(listings, [&](const auto& entry) { return entry.first.first == machine; });
  }

  std::string path;  // Where machines see it: "/plan".
  Disk disk;
  std::map<std::pair<std::uint32_t, std::string>, Listing> listings;  // By machine and directory.
};

class SharedDisks {
 public:
  /// Throws UsageError when `path` is not absolute or one is inside of another.
  void add(std::string_view path);
  /// The one that `path` is in or is; null when there is none. What has files open there keeps it.
  [[nodiscard]] std::shared_ptr<SharedDisk> find(std::string_view path) const noexcept;
  /// The one at `path`. Throws UsageError when there is none.
  [[nodiscard]] SharedDisk& known(std::string_view path) const;
  void clear() noexcept { disks_.clear(); }

 private:
  std::map<std::string, std::shared_ptr<SharedDisk>, std::less<>> disks_;
};

}  // namespace fermata::sim::detail
