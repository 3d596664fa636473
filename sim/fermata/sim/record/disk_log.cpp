// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/disk_log.hpp"

#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

void DiskLog::saw(std::string_view machine, const std::vector<FileState>& files, Instant at,
                  std::size_t step) {
  FERMATA_ASSERT(!machine.empty());
  Files& present = present_[std::string(machine)];
  Files gone = std::exchange(present, {});
  for (const FileState& file : files) {
    FERMATA_ASSERT(file.seen || file.durable);
    const auto before = gone.find(file.path);
    if (before == gone.end() || before->second != file) add(machine, file, at, step);
    if (before != gone.end()) gone.erase(before);
    present.emplace(file.path, file);
  }
  for (const auto& [path, file] : gone) add(machine, FileState{.path = path}, at, step);
}

void DiskLog::add(std::string_view machine, const FileState& file, Instant at, std::size_t step) {
  if (changes_.size() == kMostChanges) changes_.pop_front();
  changes_.push_back({.machine = std::string(machine), .file = file, .at = at, .step = step});
}

std::vector<const DiskLog::Change*> DiskLog::files(
    fermata::detail::FunctionRef<bool(const Change&)> has_come) const {
  std::map<std::pair<std::string_view, std::string_view>, const Change*> last;
  for (const Change& change : changes_) {
    if (has_come(change)) last[{change.machine, change.file.path}] = &change;
  }
  std::vector<const Change*> files;
  for (const auto& [place, change] : last) {
    if (change->file.seen || change->file.durable) files.push_back(change);
  }
  return files;
}

}  // namespace fermata::sim
