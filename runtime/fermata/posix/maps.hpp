// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where files of kernels are mapped into memory. There is one list for all of them: whoever gives
// memory back, also when no kernel serves him, takes it off the list, so that nobody unmaps what
// has another use by then.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "fermata/system/mutex.hpp"

namespace fermata::posix {

class Maps {
 public:
  /// The kernel that has made a map.
  using Owner = const void*;
  /// Lives for as long as some memory shows it.
  using File = std::shared_ptr<void>;

  [[nodiscard]] static Maps& all() noexcept;

  [[nodiscard]] bool is_empty() const noexcept {
    return count_.load(std::memory_order_relaxed) == 0;
  }
  /// The memory shows `file` from now on, and nothing else.
  void add(Owner owner, const void* begin, std::size_t size, File file);
  /// The memory is given back, or shows something else.
  void cut(const void* begin, std::size_t size);
  /// What was in memory at `from` is at `to` now, with another size.
  void move(const void* from, std::size_t size, const void* to, std::size_t new_size);
  /// The files that the memory shows.
  [[nodiscard]] std::vector<File> files(const void* begin, std::size_t size);
  /// The owner ends: the maps stay where they are, and no longer show a file.
  void let_go(Owner owner);
  /// Gives the owner's memory back.
  void unmap(Owner owner);

 private:
  struct Map {
    std::uintptr_t end;
    Owner owner;
    File file;  // Null: it has been let go.
  };

  /// Takes out what is in the range.
  std::vector<File> take(std::uintptr_t begin, std::uintptr_t end);
  void count() noexcept { count_.store(maps_.size(), std::memory_order_relaxed); }

  os::Mutex mutex_;
  std::map<std::uintptr_t, Map> maps_;  // By beginning.
  std::atomic<std::size_t> count_ = 0;
};

}  // namespace fermata::posix
