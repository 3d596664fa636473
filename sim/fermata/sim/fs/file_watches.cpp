// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fs/file_watches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/machine/close_delay.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

namespace {

constexpr Duration kLeastDelay = std::chrono::microseconds(10);
constexpr std::uint64_t kDelays = 8;  // Each twice the one before.
constexpr Duration kLeastLateness = std::chrono::milliseconds(2);
constexpr std::uint64_t kLatenesses = 9;  // As well.

/// What a program hears of it, if anything.
std::optional<DiskChange> told_as(DiskChange change) noexcept {
  switch (change) {
    case DiskChange::Appeared:
    case DiskChange::MovedHere:
      return DiskChange::Appeared;
    case DiskChange::Vanished:
    case DiskChange::MovedAway:
      return DiskChange::Vanished;
    case DiskChange::Gone:
    case DiskChange::MovedItself:
      return DiskChange::Gone;
    case DiskChange::Changed:
      return change;
    default:
      return std::nullopt;
  }
}

}  // namespace

// --- SimPlace ---

SimPlace::SimPlace(SimFileWatches& watches, backend::FileWatch& watch, std::string name)
    : backend::WatchedPlace(watch, std::move(name)), watches_(watches), acknowledgement_(*this) {}

int SimPlace::begin(const std::string& path) {
  key_ = key_of(watches_.key_, path);
  path_ = path;
  Disk& disk = watches_.disk_;
  if (const int code = disk.watch(path, *this, inode_); code != 0) return code;
  FERMATA_ASSERT(inode_ != 0);
  if (is_root() || disk.status(inode_).type == FileType::Directory) return 0;
  disk.unwatch(inode_, *this);
  return ENOTDIR;
}

void SimPlace::end() noexcept {
  Machine& machine = watches_.machine_;
  watches_.disk_.unwatch(inode_, *this);
  watches_.forget(*this);
  const Duration delay =
      close_delay(machine, key_, [&] { return fmt::format("a watch of '{}'", path_); });
  machine.agenda().schedule(acknowledgement_, machine.now() + delay,
                            key_of(watches_.key_, "close"));
}

void SimPlace::disk_changed(DiskChange change, std::string_view name, bool is_directory) {
  const std::optional<DiskChange> told = told_as(change);
  if (!told) return;
  watches_.enqueue(
      {.place = this, .change = *told, .name = std::string(name), .is_directory = is_directory});
}

void SimPlace::tell(DiskChange change, std::string_view name, bool is_directory) {
  switch (change) {
    case DiskChange::Appeared:
      return happened(What::Appeared, name, is_directory);
    case DiskChange::Vanished:
      return happened(What::Vanished, name, is_directory);
    case DiskChange::Changed:
      return happened(What::Changed, name, is_directory);
    default:
      FERMATA_ASSERT(change == DiskChange::Gone);
      return happened(What::Gone, name, is_directory);
  }
}

// --- SimFileWatches ---

SimFileWatches::SimFileWatches(fermata::detail::Attachment& attachment, Machine& machine,
                               Disk& disk)
    : backend::FileWatches(attachment),
      machine_(machine),
      disk_(disk),
      key_(key_of(machine.key(), "file watches")),
      delivery_(*this) {}

std::unique_ptr<backend::WatchedPlace> SimFileWatches::make_place(backend::FileWatch& watch,
                                                                  std::string name) {
  return std::make_unique<SimPlace>(*this, watch, std::move(name));
}

void SimFileWatches::enqueue(Report report) {
  const auto tell = [&](const Decision&) { return text(report) + " is lost"; };
  const bool is_lost = machine_.faults().strikes(Fault::WatchOverflow, backend::RandomStream::Disk,
                                                 key_of(key_, "overflow"), tell);
  if (is_lost) {
    if (!queue_.empty() && queue_.back().place == nullptr) return;
    report = {};
  }
  report.due = machine_.earliest_visible_time() + delay(report);
  if (!queue_.empty()) report.due = std::max(report.due, queue_.back().due);
  FERMATA_ASSERT(report.due >= machine_.now());
  queue_.push_back(std::move(report));
  expect_delivery();
}

Duration SimFileWatches::delay(const Report& report) {
  const auto tell_usual = [&](const Decision& decision) {
    return fmt::format("{} comes after {}", text(report),
                       amount(kLeastDelay * (1 << decision.value)));
  };
  const auto tell_late = [&](const Decision& decision) {
    return fmt::format("{} comes {} late", text(report),
                       amount(kLeastLateness * (1 << decision.value)));
  };
  const std::uint64_t usual = machine_.decisions().draw(backend::RandomStream::Disk,
                                                        key_of(key_, "delay"), kDelays, tell_usual);
  const std::uint64_t late =
      machine_.faults().strength(Fault::WatchDelay, backend::RandomStream::Disk,
                                 key_of(key_, "lateness"), kLatenesses, tell_late);
  return kLeastDelay * (1 << usual) + (late == 0 ? Duration::zero() : kLeastLateness * (1 << late));
}

std::string SimFileWatches::text(const Report& report) const {
  FERMATA_ASSERT(report.place != nullptr || report.name.empty());
  if (report.place == nullptr) return "a file watch's request to look again" + machine_.place();
  const std::string path = report.name.empty() ? report.place->path_ : report.name;
  return fmt::format("a file watch's news of '{}'{}", path, machine_.place());
}

void SimFileWatches::forget(const SimPlace& place) noexcept {
  std::erase_if(queue_, [&](const Report& report) { return report.place == &place; });
  delivery_.cancel();
  expect_delivery();
}

void SimFileWatches::expect_delivery() {
  if (queue_.empty() || delivery_.is_scheduled()) return;
  machine_.agenda().schedule(delivery_, queue_.front().due, key_);
}

void SimFileWatches::deliver() {
  FERMATA_ASSERT(!queue_.empty());
  const Report report = std::move(queue_.front());
  queue_.pop_front();
  if (report.place == nullptr) {
    lost();
  } else {
    report.place->tell(report.change, report.name, report.is_directory);
  }
  expect_delivery();
}

}  // namespace fermata::sim::detail
