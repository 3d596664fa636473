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
  if (operation.call == backend::FileCall::Rename)
    text += fmt::format(" -> '{}'", operation.target);
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
  disk_.set_time(attachment_.runtime().reactor().wall_clock());
  const auto words = [&] { return text(operation); };
  const Answer answer = perform(operation, {key, words});
  RunLog* const told = noted ? machine_.run_log() : nullptr;
  if (told != nullptr) told->answered(*noted, answer_text(operation, answer.code, answer.moved));
  finished(operation, answer.code, answer.moved);
}

// --- what ---

SimFiles::Answer SimFiles::perform(backend::FileOperation& operation, const DiskCall& call) {
  if (operation.call == backend::FileCall::Open) return open(operation, call);
  const auto file = open_.find(operation.file);
  if (file != open_.end()) return perform_on(file->second, operation, call);
  return {perform_at_path(operation, call), 0};
}

SimFiles::Answer SimFiles::perform_on(const OpenFile& file, backend::FileOperation& operation,
                                      const DiskCall& call) {
  switch (operation.call) {
    case backend::FileCall::Read:
      return read(file, operation, call);
    case backend::FileCall::Write:
      return write(file, operation, call);
    case backend::FileCall::Truncate:
      return {file.mode.write ? disk_.truncate(file.inode, operation.length) : EINVAL, 0};
    case backend::FileCall::Status:
      operation.status = disk_.status(file.inode);
      return {};
    case backend::FileCall::Lock:
      return lock(file, operation);
    default:
      return {sync(file, call), 0};
  }
}

int SimFiles::perform_at_path(backend::FileOperation& operation, const DiskCall& call) {
  const std::string& path = operation.path;
  switch (operation.call) {
    case backend::FileCall::PathStatus:
      return disk_.status(path, operation.status);
    case backend::FileCall::Rename:
      return disk_.rename(path, operation.target);
    case backend::FileCall::Remove:
      return disk_.remove(path);
    case backend::FileCall::MakeDirectory:
      return is_full(call, operation.path) ? ENOSPC
                                           : disk_.make_directory(path, operation.mode.permissions);
    case backend::FileCall::RemoveDirectory:
      return disk_.remove_directory(path);
    case backend::FileCall::ListDirectory:
      return disk_.list(path, operation.entries);
    case backend::FileCall::SyncDirectory:
      if (faults_.has_error(call)) return EIO;
      return disk_.sync_directory(path);
    default:
      return EBADF;
  }
}

SimFiles::Answer SimFiles::open(backend::FileOperation& operation, const DiskCall& call) {
  if (out_of_descriptors(machine_, backend::RandomStream::Disk, "file")) return {EMFILE, 0};
  if (operation.mode.create && is_full(call, operation.path)) return {ENOSPC, 0};
  OpenFile opened{0, operation.mode};
  const int code = disk_.open(operation.path, operation.mode, opened.inode);
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
  disk_.locks().whole.clear(&closed->second);
  disk_.release(closed->second.inode);
  open_.erase(closed);
}

SimFiles::Answer SimFiles::read(const OpenFile& file, backend::FileOperation& operation,
                                const DiskCall& call) {
  if (!file.mode.read) return {EBADF, 0};
  if (faults_.has_error(call)) return {EIO, 0};
  const std::uint64_t end = disk_.image(file.inode).seen().size();
  const std::uint64_t there = end - std::min(end, operation.offset);
  const std::size_t size =
      faults_.shortened(call, std::min<std::size_t>(operation.size, there), Fault::ShortRead);
  FERMATA_ASSERT(size <= operation.rest().size());
  Answer answer;
  answer.code =
      disk_.read(file.inode, operation.offset, operation.rest().first(size), answer.moved);
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
      file.mode.append ? disk_.image(file.inode).seen().size() : operation.offset;
  Answer answer;
  answer.code = disk_.write(file.inode, offset, rest.first(size), rest.size(), answer.moved);
  FERMATA_ASSERT(answer.moved <= size);
  return answer;
}

int SimFiles::sync(const OpenFile& file, const DiskCall& call) {
  const DiskFaults::SyncFailure failure = faults_.sync_failure(call);
  if (failure == DiskFaults::SyncFailure::GivesUp) disk_.give_up_changes(file.inode);
  if (failure != DiskFaults::SyncFailure::None) return EIO;
  disk_.sync(file.inode);
  return 0;
}

bool SimFiles::is_full(const DiskCall& call, const std::string& path) {
  FERMATA_ASSERT(!path.empty());
  return !disk_.exists(path) && faults_.finds_no_space(call);
}

}  // namespace fermata::sim::detail
