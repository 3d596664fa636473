// SPDX-License-Identifier: Apache-2.0
#pragma once

// What laws over files do with a disk that has its whims.

#include <cstddef>
#include <vector>

#include "fermata/runtime.hpp"

namespace fermata::properties {

/// What `action` comes to when it is tried again and again: the disk's whims strike every second
/// time at most. Suspends.
template <class Action>
auto insist(Action action) {
  for (int tries_left = 60; tries_left > 0; --tries_left) {
    try {
      return action();
    } catch (const InputOutputError&) {
    }
  }
  return action();
}

[[nodiscard]] inline File open(const char* path, const OpenMode& mode) {
  return insist([&] { return File::open(path, mode); });
}

/// All that is in a file.
[[nodiscard]] inline std::vector<std::byte> contents(const char* path) {
  File file = open(path, OpenMode::reading());
  std::vector<std::byte> all(insist([&] { return file.size(); }));
  for (std::size_t done = 0; done < all.size();) {
    done += insist([&] { return file.read_at(done, std::span(all).subspan(done)); });
  }
  return all;
}

}  // namespace fermata::properties
