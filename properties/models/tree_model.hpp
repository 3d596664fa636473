// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names on a disk, and since when each is where it is.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/time.hpp"

namespace fermata::models {

/// Whether `path` is somewhere in the directory `directory`.
[[nodiscard]] inline bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.substr(0, directory.size()) == directory &&
         path[directory.size()] == '/';
}

class TreeModel {
 public:
  /// Before something happened, in an order of all that does; and the time after it.
  struct Moment {
    std::uint64_t tick = 0;
    Instant at;
  };
  struct Entry {
    bool is_directory = false;
    Moment since;
  };

  void add(const std::string& path, bool is_directory, const Moment& since) {
    entries_[path] = {is_directory, since};
  }
  void remove(const std::string& path) { entries_.erase(path); }

  /// With all that is below; what was at `to` is gone.
  void rename(const std::string& from, const std::string& to, const Moment& since) {
    std::vector<std::string> moved = below(from);
    moved.push_back(from);
    for (const std::string& each : moved) {
      const bool is_directory = entries_[each].is_directory;
      entries_.erase(each);
      add(to + each.substr(from.size()), is_directory, since);
    }
  }

  [[nodiscard]] const Entry* find(const std::string& path) const {
    const auto found = entries_.find(path);
    return found == entries_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool is_directory(const std::string& path) const {
    const Entry* const entry = find(path);
    return entry != nullptr && entry->is_directory;
  }
  [[nodiscard]] const std::map<std::string, Entry>& entries() const { return entries_; }

  [[nodiscard]] std::vector<std::string> below(std::string_view directory) const {
    std::vector<std::string> paths;
    for (const auto& [path, entry] : entries_) {
      if (is_below(path, directory)) paths.push_back(path);
    }
    return paths;
  }
  [[nodiscard]] std::size_t directories_below(std::string_view directory) const {
    std::size_t count = 0;
    for (const auto& [path, entry] : entries_) {
      if (entry.is_directory && is_below(path, directory)) ++count;
    }
    return count;
  }

  /// When the youngest directory between `root` and `path` came to where it is; none is older than
  /// everything.
  [[nodiscard]] Moment youngest_between(std::string_view root, std::string_view path) const {
    Moment youngest;
    for (const auto& [directory, entry] : entries_) {
      if (!is_below(directory, root) || !is_below(path, directory)) continue;
      if (entry.since.tick > youngest.tick) youngest = entry.since;
    }
    return youngest;
  }

 private:
  std::map<std::string, Entry> entries_;
};

}  // namespace fermata::models
