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

constexpr Duration kLeastLatency = std::chrono::microseconds(20);
constexpr std::uint64_t kLatencies = 8;  // Each twice the one before.
constexpr Duration kLeastSlowness = std::chrono::milliseconds(5);
constexpr std::uint64_t kSlownesses = 9;  // As well.
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
  const std::uint64_t key = key_of(key_of(machine_.key(), call), path_of(operation));
  jobs_.emplace_back(*this, operation, key);
  Job& job = jobs_.back();
  job.self = std::prev(jobs_.end());
  operation.job = &job;
  if (RunLog* const told = machine_.run_log()) {
    job.noted = told->called(machine_.name(), call_text(operation));
  }
  const Duration time =
      operation.call == backend::FileCall::Close
          ? close_delay(machine_, key, [&] { return fmt::format("'{}'", path_of(operation)); })
          : latency(operation, key);
  machine_.agenda().schedule(job, machine_.now() + time,
                             key_of(key_of(machine_.key(), "disk"), next_number_++));
  return 0;
}

std::string SimFiles::text(const backend::FileOperation& operation) const {
  FERMATA_ASSERT(!path_of(operation).empty());
  std::string text = fmt::format("{} '{}'", name_of(operation.call), path_of(operation));
  if (operation.call == backend::FileCall::Rename)
    text += fmt::format(" -> '{}'", operation.target);
  return text + machine_.place();
}

Duration SimFiles::latency(const backend::FileOperation& operation, std::uint64_t key) {
  const auto tell_usual = [&](const Decision& decision) {
    return fmt::format("{} takes {}", text(operation),
                       amount(kLeastLatency * (1 << decision.value)));
  };
  const auto tell_slow = [&](const Decision& decision) {
    return fmt::format("{} takes {} longer", text(operation),
                       amount(kLeastSlowness * (1 << decision.value)));
  };
  const std::uint64_t usual = machine_.decisions().draw(
      backend::RandomStream::Disk, key_of(key, "latency"), kLatencies, tell_usual);
  const std::uint64_t slow =
      machine_.faults().strength(Fault::SlowDisk, backend::RandomStream::Disk,
                                 key_of(key, "slowness"), kSlownesses, tell_slow);
  return kLeastLatency * (1 << usual) +
         (slow == 0 ? Duration::zero() : kLeastSlowness * (1 << slow));
}

void SimFiles::withdraw(backend::FileOperation& operation) noexcept {
  Job& job = *static_cast<Job*>(operation.job);
  FERMATA_ASSERT(&job.operation == &operation);
  if (job.withdrawn) return;
  const auto tell = [&](const Decision&) {
    return text(operation) + " is cancelled before it begins";
  };
  job.withdrawn = machine_.decisions().draw(backend::RandomStream::Disk,
                                            key_of(job.key, "withdrawn in time"), 2, tell) != 0;
}

void SimFiles::end(Job& job) {
  backend::FileOperation& operation = job.operation;
  FERMATA_ASSERT(operation.job == &job);
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
  const Answer answer = perform(operation, key);
  RunLog* const told = noted ? machine_.run_log() : nullptr;
  if (told != nullptr) told->answered(*noted, answer_text(operation, answer.code, answer.moved));
  finished(operation, answer.code, answer.moved);
}

// --- what ---

SimFiles::Answer SimFiles::perform(backend::FileOperation& operation, std::uint64_t key) {
  if (operation.call == backend::FileCall::Open) return open(operation, key);
  const auto file = open_.find(operation.file);
  if (file != open_.end()) return perform_on(file->second, operation, key);
  return {perform_at_path(operation, key), 0};
}

SimFiles::Answer SimFiles::perform_on(const OpenFile& file, backend::FileOperation& operation,
                                      std::uint64_t key) {
  switch (operation.call) {
    case backend::FileCall::Read:
      return read(file, operation, key);
    case backend::FileCall::Write:
      return write(file, operation, key);
    case backend::FileCall::Truncate:
      return {file.mode.write ? disk_.truncate(file.inode, operation.length) : EINVAL, 0};
    case backend::FileCall::Status:
      operation.status = disk_.status(file.inode);
      return {};
    default:
      return {sync(file, operation, key), 0};
  }
}

int SimFiles::perform_at_path(backend::FileOperation& operation, std::uint64_t key) {
  const std::string& path = operation.path;
  switch (operation.call) {
    case backend::FileCall::PathStatus:
      return disk_.status(path, operation.status);
    case backend::FileCall::Rename:
      return disk_.rename(path, operation.target);
    case backend::FileCall::Remove:
      return disk_.remove(path);
    case backend::FileCall::MakeDirectory:
      return is_full(operation, key) ? ENOSPC
                                     : disk_.make_directory(path, operation.mode.permissions);
    case backend::FileCall::RemoveDirectory:
      return disk_.remove_directory(path);
    case backend::FileCall::ListDirectory:
      return disk_.list(path, operation.entries);
    case backend::FileCall::SyncDirectory:
      if (has_error(operation, key)) return EIO;
      return disk_.sync_directory(path);
    default:
      return EBADF;
  }
}

SimFiles::Answer SimFiles::open(backend::FileOperation& operation, std::uint64_t key) {
  if (out_of_descriptors(machine_, backend::RandomStream::Disk, "file")) return {EMFILE, 0};
  if (operation.mode.create && is_full(operation, key)) return {ENOSPC, 0};
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
  disk_.release(closed->second.inode);
  open_.erase(closed);
}

SimFiles::Answer SimFiles::read(const OpenFile& file, backend::FileOperation& operation,
                                std::uint64_t key) {
  if (!file.mode.read) return {EBADF, 0};
  if (has_error(operation, key)) return {EIO, 0};
  const std::uint64_t end = disk_.image(file.inode).seen().size();
  const std::uint64_t there = end - std::min(end, operation.offset);
  const std::size_t size = shortened(operation, std::min<std::size_t>(operation.size, there),
                                     Fault::ShortRead, key_of(key, "short read"));
  FERMATA_ASSERT(size <= operation.rest().size());
  Answer answer;
  answer.code =
      disk_.read(file.inode, operation.offset, operation.rest().first(size), answer.moved);
  FERMATA_ASSERT(answer.moved <= size);
  return answer;
}

SimFiles::Answer SimFiles::write(const OpenFile& file, backend::FileOperation& operation,
                                 std::uint64_t key) {
  if (!file.mode.write) return {EBADF, 0};
  const std::span<const std::byte> rest = operation.rest();
  if (has_error(operation, key)) return {EIO, 0};
  if (!rest.empty() && finds_no_space(operation, key)) return {ENOSPC, 0};
  const std::size_t size =
      shortened(operation, rest.size(), Fault::ShortWrite, key_of(key, "short write"));
  const std::uint64_t offset =
      file.mode.append ? disk_.image(file.inode).seen().size() : operation.offset;
  Answer answer;
  answer.code = disk_.write(file.inode, offset, rest.first(size), answer.moved);
  FERMATA_ASSERT(answer.moved <= size);
  return answer;
}

int SimFiles::sync(const OpenFile& file, const backend::FileOperation& operation,
                   std::uint64_t key) {
  enum Failure : std::uint64_t { None, MayBeTriedAgain, GivesUp, kCount };
  const auto tell = [&](const Decision& decision) {
    return fmt::format("{} fails with EIO{}", text(operation),
                       decision.value == GivesUp ? ", and its writes will never be synced" : "");
  };
  const std::uint64_t failure = machine_.faults().strength(
      Fault::DiskError, backend::RandomStream::Disk, key_of(key, "error"), kCount, tell);
  if (failure == GivesUp) disk_.give_up_changes(file.inode);
  if (failure != None) return EIO;
  disk_.sync(file.inode);
  return 0;
}

// --- misfortune ---

bool SimFiles::is_full(const backend::FileOperation& operation, std::uint64_t key) {
  FERMATA_ASSERT(!operation.path.empty());
  return !disk_.exists(operation.path) && finds_no_space(operation, key);
}

bool SimFiles::finds_no_space(const backend::FileOperation& operation, std::uint64_t key) {
  const auto tell = [&](const Decision&) { return text(operation) + " finds the disk full"; };
  return machine_.faults().strikes(Fault::DiskFull, backend::RandomStream::Disk,
                                   key_of(key, "full"), tell);
}

bool SimFiles::has_error(const backend::FileOperation& operation, std::uint64_t key) {
  FERMATA_ASSERT(operation.call != backend::FileCall::Close);
  const auto tell = [&](const Decision&) { return text(operation) + " fails with EIO"; };
  return machine_.faults().strikes(Fault::DiskError, backend::RandomStream::Disk,
                                   key_of(key, "error"), tell);
}

std::size_t SimFiles::shortened(const backend::FileOperation& operation, std::size_t size,
                                Fault fault, std::uint64_t key) {
  if (size < 2) return size;
  const auto tell = [&](const Decision& decision) {
    return fmt::format("{} moves {}", text(operation), part_of_bytes(decision.value, size));
  };
  const std::uint64_t part =
      machine_.faults().strength(fault, backend::RandomStream::Disk, key, size, tell);
  FERMATA_ASSERT(part < size);
  return part == 0 ? size : static_cast<std::size_t>(part);
}

}  // namespace fermata::sim::detail
