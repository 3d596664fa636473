// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fs/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/reactor/file.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/fs/call_text.hpp"
#include "fermata/sim/machine/close_delay.hpp"
#include "fermata/sim/machine/descriptors.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

namespace {

constexpr int kFirstFile = 3;

const std::string& path_of(const backend::FileOperation& operation) {
  return operation.handle ? operation.handle->path() : operation.path;
}

const char* name_of(backend::FileCall call) {
  switch (call) {
    case backend::FileCall::Open:
      return "the open of";
    case backend::FileCall::Read:
      return "the read of";
    case backend::FileCall::Write:
      return "the write to";
    case backend::FileCall::Sync:
    case backend::FileCall::SyncData:
      return "the sync of";
    case backend::FileCall::Status:
    case backend::FileCall::PathStatus:
      return "the look at the status of";
    case backend::FileCall::Truncate:
      return "the truncation of";
    case backend::FileCall::Lock:
      return "the lock of";
    case backend::FileCall::Close:
      return "the close of";
    case backend::FileCall::Rename:
      return "the rename";
    case backend::FileCall::Link:
      return "the link";
    case backend::FileCall::Remove:
      return "the removal of";
    case backend::FileCall::MakeDirectory:
      return "the making of directory";
    case backend::FileCall::RemoveDirectory:
      return "the removal of directory";
    case backend::FileCall::ListDirectory:
      return "the listing of directory";
    case backend::FileCall::SyncDirectory:
      return "the sync of directory";
  }
  return "";
}

}  // namespace

// --- when ---

int SimFiles::enqueue(backend::FileOperation& operation) {
  const char* const call = to_string(operation.call);
  const std::uint64_t key = DiskCall::key_of(machine_, call, path_of(operation));
  jobs_.emplace_back(*this, operation, key);
  Job& job = jobs_.back();
  job.self = std::prev(jobs_.end());
  operation.job = &job;
  if (RunLog* const told = machine_.run_log()) {
    job.noted = told->called(machine_.name(), call_text(operation));
  }
  const auto words = [&] { return text(operation); };
  const Duration time =
      operation.call == backend::FileCall::Close
          ? close_delay(machine_, key, [&] { return fmt::format("'{}'", path_of(operation)); })
          : faults_.latency({key, words});
  begin_later(job, machine_.now() + time);
  return 0;
}

void SimFiles::begin_later(Job& job, Instant when) {
  machine_.agenda().schedule(job, when, key_of(key_of(machine_.key(), "disk"), next_number_++));
}

std::string SimFiles::text(const backend::FileOperation& operation) const {
  FERMATA_ASSERT(!path_of(operation).empty());
  std::string text = fmt::format("{} '{}'", name_of(operation.call), path_of(operation));
  if (!operation.target.empty()) text += fmt::format(" -> '{}'", operation.target);
  return text + machine_.place();
}

void SimFiles::withdraw(backend::FileOperation& operation) noexcept {
  Job& job = *static_cast<Job*>(operation.job);
  FERMATA_ASSERT(&job.operation == &operation);
  if (job.withdrawn) return;
  if (job.waits_for_lock) {
    job.withdrawn = true;
    job.stop_waiting();
    if (!job.is_scheduled()) begin_later(job, machine_.now());
    return;
  }
  const auto words = [&] { return text(operation); };
  job.withdrawn = faults_.is_withdrawn({job.key, words});
}

void SimFiles::end(Job& job) {
  backend::FileOperation& operation = job.operation;
  FERMATA_ASSERT(operation.job == &job);
  if (waits_on(job)) return;
  const std::uint64_t key = job.key;
  const bool withdrawn = job.withdrawn;
  const std::optional<RunLog::CallId> noted = job.noted;
  jobs_.erase(job.self);
  if (operation.call == backend::FileCall::Close) {
    close(operation.file);
    return finished(operation, 0);
  }
  if (withdrawn || machine_.over()) return finished(operation, ECANCELED);
  const auto words = [&] { return text(operation); };
  const Answer answer = perform(operation, {key, words});
  RunLog* const told = noted ? machine_.run_log() : nullptr;
  if (told != nullptr) told->answered(*noted, answer_text(operation, answer.code, answer.moved));
  finished(operation, answer.code, answer.moved);
}

// --- what ---

SimFiles::Answer SimFiles::perform(backend::FileOperation& operation, const DiskCall& call) {
  if (operation.call == backend::FileCall::Open) return open(operation, call);
  const auto found = open_.find(operation.file);
  if (found == open_.end()) return {perform_at_path(operation, call), 0};
  const OpenFile& file = found->second;
  if (!file.is_known()) return {ESTALE, 0};
  if (file.shared != nullptr && !file.disk->is_named(file.inode) &&
      faults_.is_stale(call, " finds that the file is gone from the server"))
    return {ESTALE, 0};
  set_time(*file.disk);
  return perform_on(file, operation, call);
}

SimFiles::Answer SimFiles::perform_on(const OpenFile& file, backend::FileOperation& operation,
                                      const DiskCall& call) {
  switch (operation.call) {
    case backend::FileCall::Read:
      return read(file, operation, call);
    case backend::FileCall::Write:
      return write(file, operation, call);
    case backend::FileCall::Truncate:
      return {file.mode.write ? file.disk->truncate(file.inode, operation.length) : EINVAL, 0};
    case backend::FileCall::Status:
      operation.status = file.disk->status(file.inode);
      return {};
    case backend::FileCall::Lock:
      return lock(file, operation);
    default:
      return {sync(file, call), 0};
  }
}

int SimFiles::perform_at_path(backend::FileOperation& operation, const DiskCall& call) {
  const Where at = where(operation.path);
  set_time(*at.disk);
  switch (operation.call) {
    case backend::FileCall::PathStatus:
      return at.disk->status(at.path, operation.status);
    case backend::FileCall::ListDirectory:
      return list(at, operation, call);
    case backend::FileCall::SyncDirectory:
      if (faults_.has_error(call)) return EIO;
      return at.disk->sync_directory(at.path);
    default:
      break;
  }
  const int code = change_names(at, operation, call);
  if (at.shared != nullptr) at.shared->forget_listings(machine_.number());
  if (code != 0 || at.shared == nullptr || !faults_.loses_reply(call)) return code;
  return change_names(at, operation, call);
}

int SimFiles::change_names(const Where& at, const backend::FileOperation& operation,
                           const DiskCall& call) {
  Disk& disk = *at.disk;
  switch (operation.call) {
    case backend::FileCall::Rename:
    case backend::FileCall::Link: {
      FERMATA_ASSERT(!operation.target.empty());
      const Where target = where(operation.target);
      if (target.disk != at.disk) return EXDEV;
      if (operation.call == backend::FileCall::Rename) return disk.rename(at.path, target.path);
      return is_full(call, target) ? ENOSPC : disk.link(at.path, target.path);
    }
    case backend::FileCall::Remove:
      return disk.remove(at.path);
    case backend::FileCall::MakeDirectory:
      return is_full(call, at) ? ENOSPC : disk.make_directory(at.path, operation.mode.permissions);
    case backend::FileCall::RemoveDirectory:
      return disk.remove_directory(at.path);
    default:
      return EBADF;
  }
}

int SimFiles::list(const Where& at, backend::FileOperation& operation, const DiskCall& call) {
  constexpr Duration kLongestStale = std::chrono::seconds(3);
  if (at.shared == nullptr) return at.disk->list(at.path, operation.entries);
  FERMATA_ASSERT(at.disk == &at.shared->disk);
  FERMATA_ASSERT(operation.entries.empty());
  auto& listings = at.shared->listings;
  const std::pair key(machine_.number(), at.path);
  const auto known = listings.find(key);
  FERMATA_ASSERT(known == listings.end() || known->second.seen <= machine_.now());
  const bool may_be_stale =
      known != listings.end() && machine_.now() - known->second.seen <= kLongestStale;
  if (may_be_stale && faults_.is_stale(call, " shows what was there some time ago")) {
    operation.entries = known->second.entries;
    return 0;
  }
  const int code = at.disk->list(at.path, operation.entries);
  if (code == 0) listings[key] = {machine_.now(), operation.entries};
  return code;
}

SimFiles::Where SimFiles::where(const std::string& path) const {
  FERMATA_ASSERT(!path.empty());
  std::shared_ptr<SharedDisk> shared = shared_.find(path);
  if (shared == nullptr) return {&disk_, nullptr, path};
  FERMATA_ASSERT(path.size() >= shared->path.size());
  Disk* const disk = &shared->disk;
  std::string inside = '/' + path.substr(shared->path.size());
  return {disk, std::move(shared), std::move(inside)};
}

void SimFiles::set_time(Disk& disk) const {
  const bool is_own = &disk == &disk_;
  disk.set_time(is_own ? attachment_.runtime().reactor().wall_clock()
                       : NodeClock().wall(machine_.now()));
}

SimFiles::Answer SimFiles::open(backend::FileOperation& operation, const DiskCall& call) {
  if (out_of_descriptors(machine_, backend::RandomStream::Disk, "file")) return {EMFILE, 0};
  const Where at = where(operation.path);
  if (operation.mode.create && is_full(call, at)) return {ENOSPC, 0};
  set_time(*at.disk);
  OpenFile opened{at.disk, at.shared, at.disk->life(), 0, operation.mode};
  const int code = at.disk->open(at.path, operation.mode, opened.inode);
  if (code != 0) return {code, 0};
  const int file = open_.empty() ? kFirstFile : open_.rbegin()->first + 1;
  FERMATA_ASSERT(opened.inode != 0);
  const bool is_new = open_.emplace(file, opened).second;
  FERMATA_ASSERT(is_new);
  return {0, static_cast<std::size_t>(file)};
}

void SimFiles::close(int file) {
  const auto closed = open_.find(file);
  FERMATA_ASSERT(closed != open_.end());
  let_go(closed->second);
  open_.erase(closed);
}

void SimFiles::let_go(const OpenFile& file) {
  FERMATA_ASSERT(file.disk != nullptr && file.inode != 0);
  if (!file.is_known()) return;
  file.disk->locks().whole.clear(&file);
  file.disk->release(file.inode);
}

SimFiles::Answer SimFiles::read(const OpenFile& file, backend::FileOperation& operation,
                                const DiskCall& call) {
  if (!file.mode.read) return {EBADF, 0};
  if (faults_.has_error(call)) return {EIO, 0};
  const std::uint64_t end = file.disk->image(file.inode).seen().size();
  const std::uint64_t there = end - std::min(end, operation.offset);
  const std::size_t size =
      faults_.shortened(call, std::min<std::size_t>(operation.size, there), Fault::ShortRead);
  FERMATA_ASSERT(size <= operation.rest().size());
  Answer answer;
  answer.code =
      file.disk->read(file.inode, operation.offset, operation.rest().first(size), answer.moved);
  FERMATA_ASSERT(answer.moved <= size);
  return answer;
}

SimFiles::Answer SimFiles::write(const OpenFile& file, backend::FileOperation& operation,
                                 const DiskCall& call) {
  if (!file.mode.write) return {EBADF, 0};
  const std::span<const std::byte> rest = operation.rest();
  if (faults_.has_error(call)) return {EIO, 0};
  if (!rest.empty() && faults_.finds_no_space(call)) return {ENOSPC, 0};
  const std::size_t size = faults_.shortened(call, rest.size(), Fault::ShortWrite);
  const std::uint64_t offset =
      file.mode.append ? file.disk->image(file.inode).seen().size() : operation.offset;
  Answer answer;
  answer.code = file.disk->write(file.inode, offset, rest.first(size), rest.size(), answer.moved);
  FERMATA_ASSERT(answer.moved <= size);
  return answer;
}

int SimFiles::sync(const OpenFile& file, const DiskCall& call) {
  const DiskFaults::SyncFailure failure = faults_.sync_failure(call);
  if (failure == DiskFaults::SyncFailure::GivesUp) file.disk->give_up_changes(file.inode);
  if (failure != DiskFaults::SyncFailure::None) return EIO;
  file.disk->sync(file.inode);
  return 0;
}

bool SimFiles::is_full(const DiskCall& call, const Where& at) {
  FERMATA_ASSERT(!at.path.empty());
  return !at.disk->exists(at.path) && faults_.finds_no_space(call);
}

}  // namespace fermata::sim::detail
