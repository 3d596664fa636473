// SPDX-License-Identifier: Apache-2.0
#pragma once

// File watches of a simulated machine. Changes of its disk are told some time after they happened,
// in the order in which they did.

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "fermata/reactor/file_watches.hpp"
#include "fermata/sim/fs/disk.hpp"
#include "fermata/sim/machine/agenda.hpp"
#include "fermata/sim/machine/member_happening.hpp"

namespace fermata::sim::detail {

class Machine;
class SimFileWatches;

class SimPlace final : public backend::WatchedPlace, private DiskWatcher {
 public:
  SimPlace(SimFileWatches& watches, backend::FileWatch& watch, std::string name);

 private:
  friend class SimFileWatches;

  int begin(const std::string& path) override;
  void end() noexcept override;
  void disk_changed(DiskChange change, std::string_view name, bool is_directory) override;
  void tell(DiskChange change, std::string_view name, bool is_directory);

  SimFileWatches& watches_;
  Disk::Inode inode_ = 0;
  std::uint64_t key_ = 0;
  std::string path_;
  MemberHappening<SimPlace, &SimPlace::ended> acknowledgement_;
};

class SimFileWatches final : public backend::FileWatches {
 public:
  SimFileWatches(fermata::detail::Attachment& attachment, Machine& machine, Disk& disk);

 private:
  friend class SimPlace;
  struct Report {
    SimPlace* place = nullptr;  // Null: some were lost.
    DiskChange change = DiskChange::Changed;
    std::string name;
    bool is_directory = false;
    Instant due;
  };

  std::unique_ptr<backend::WatchedPlace> make_place(backend::FileWatch& watch,
                                                    std::string name) override;

  void enqueue(Report report);
  void forget(const SimPlace& place) noexcept;
  void expect_delivery();
  void deliver();
  [[nodiscard]] Duration delay(const Report& report);
  /// "the change of 'log' that a watch tells", for people.
  [[nodiscard]] std::string text(const Report& report) const;

  Machine& machine_;
  Disk& disk_;
  std::uint64_t key_;
  std::deque<Report> queue_;
  MemberHappening<SimFileWatches, &SimFileWatches::deliver> delivery_;
};

}  // namespace fermata::sim::detail
