// SPDX-License-Identifier: Apache-2.0
#pragma once

// An inotify(7): what happens to files of the machine's disk is told at once, in order.
//
// Fault  watch-overflow: some news is lost, as when the queue is full.

#include <sys/inotify.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "fermata/sim/fs/disk.hpp"
#include "fermata/sim/posix/description.hpp"

namespace fermata::sim::detail {

class FileNews final : public Description {
 public:
  FileNews(Machine& machine, std::uint64_t serial, Disk& disk);
  ~FileNews() override;

  [[nodiscard]] std::string maker() override { return "who changes what it watches"; }
  [[nodiscard]] ssize_t read(std::span<const iovec> target) override;
  [[nodiscard]] int readable_bytes() override;
  [[nodiscard]] Readiness readiness() override;

  /// Watches `path` for what `mask` names, as inotify_add_watch() does: the number of the watch, or
  /// a negative errno.
  [[nodiscard]] int watch(const DiskPath& path, std::uint32_t mask);
  /// 0 or a negative errno.
  [[nodiscard]] int unwatch(int number);

 private:
  struct Watch;
  struct Event {
    int watch = -1;
    std::uint32_t mask = 0;
    std::uint32_t cookie = 0;
    std::string name;

    friend bool operator==(const Event&, const Event&) = default;
    [[nodiscard]] std::size_t size() const noexcept;
  };
  static constexpr std::size_t kMostEvents = 16384;

  void happened(Watch& watch, DiskChange change, std::string_view name, bool is_directory);
  void push(Event event);
  /// Its watch is no more.
  void ends(Watch& watch);
  void forget_ended();

  Disk& disk_;
  std::map<int, std::unique_ptr<Watch>> watches_;
  std::deque<Event> events_;
  int last_watch_ = 0;
};

}  // namespace fermata::sim::detail
