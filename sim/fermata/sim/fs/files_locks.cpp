// SPDX-License-Identifier: Apache-2.0

// Locks of files. A lock that somebody else has is waited for, without a limit, until the operation
// is withdrawn.

#include "fermata/base/assert.hpp"
#include "fermata/sim/fs/files.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

SimFiles::~SimFiles() {
  // Files of the machine's own disk need no release: a crash has let them go, or the disk goes too.
  for (const auto& [number, file] : open_) {
    if (file.shared == nullptr) {
      disk_.locks().whole.clear(&file);
    } else {
      let_go(file);
    }
  }
}

void SimFiles::Job::stop_waiting() noexcept {
  if (!std::exchange(waits_for_lock, false)) return;
  waits_on->locks().whole.remove(*this);
}

FileLocks::Lock SimFiles::wanted_lock(const OpenFile& file,
                                      const backend::FileOperation& operation) {
  return {.owner = &file,
          .exclusive = operation.lock == backend::FileLockKind::Exclusive,
          .holder = operation.asked_by};
}

bool SimFiles::is_hindered(const backend::FileOperation& operation) const {
  const auto file = open_.find(operation.file);
  FERMATA_ASSERT(file != open_.end());
  const OpenFile& opened = file->second;
  return opened.is_known() && opened.disk->locks().whole.obstacle(
                                  opened.inode, wanted_lock(opened, operation)) != nullptr;
}

bool SimFiles::waits_on(Job& job) {
  const backend::FileOperation& operation = job.operation;
  const bool is_wanted = operation.call == backend::FileCall::Lock && operation.waits &&
                         operation.request != nullptr && !job.withdrawn && !machine_.over();
  if (!is_wanted || !is_hindered(operation)) {
    job.stop_waiting();
    return false;
  }
  if (!std::exchange(job.waits_for_lock, true)) {
    job.waits_on = open_.find(operation.file)->second.disk;
    job.waits_on->locks().whole.add(job);
  }
  return true;
}

// Somebody else may take it before this one's turn.
void SimFiles::look(Job& job) {
  FERMATA_ASSERT(job.waits_for_lock && !job.withdrawn);
  if (job.is_scheduled() || is_hindered(job.operation)) return;
  begin_later(job, machine_.earliest_visible_time());
}

SimFiles::Answer SimFiles::lock(const OpenFile& file, const backend::FileOperation& operation) {
  const FileLocks::Lock wanted = wanted_lock(file, operation);
  FERMATA_ASSERT(operation.call == backend::FileCall::Lock);
  FileLocks& locks = file.disk->locks().whole;
  if (locks.obstacle(file.inode, wanted) != nullptr) return {0, 0};
  locks.set(file.inode, wanted);
  return {0, 1};
}

void SimFiles::unlock(int file) noexcept {
  const auto found = open_.find(file);
  FERMATA_ASSERT(found != open_.end());
  found->second.disk->locks().whole.clear(&found->second);
}

void SimFiles::explain_lock(const backend::FileOperation& operation,
                            backend::WaitFacts& facts) const {
  FERMATA_ASSERT(operation.call == backend::FileCall::Lock);
  const auto file = open_.find(operation.file);
  if (file == open_.end()) return facts.outside("the disk");
  const OpenFile& opened = file->second;
  if (!opened.is_known()) return facts.outside("the server of the folder");
  opened.disk->locks().whole.explain(opened.inode, wanted_lock(opened, operation), facts);
}

}  // namespace fermata::sim::detail
