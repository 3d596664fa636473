// SPDX-License-Identifier: Apache-2.0

// Calls on files that are carried out while whoever made them goes on.

#include <fcntl.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <memory>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/posix/event_counter.hpp"
#include "fermata/sim/posix/kernel_files.hpp"

namespace fermata::sim::detail {

namespace {

/// The most calls of all queues together, as Linux has it.
constexpr unsigned kMostCalls = 65'536;
constexpr unsigned kMostOfAQueue = 0x1000'0000u / sizeof(io_event) / 2;

bool writes(const iocb& what) noexcept {
  return what.aio_lio_opcode == IOCB_CMD_PWRITE || what.aio_lio_opcode == IOCB_CMD_PWRITEV;
}

bool has_pieces(const iocb& what) noexcept {
  return what.aio_lio_opcode == IOCB_CMD_PREADV || what.aio_lio_opcode == IOCB_CMD_PWRITEV;
}

bool syncs(const iocb& what) noexcept {
  return what.aio_lio_opcode == IOCB_CMD_FSYNC || what.aio_lio_opcode == IOCB_CMD_FDSYNC;
}

/// Why the flags of a transfer are refused, a negative errno, or 0. Nothing of a file that is open
/// without O_DIRECT is known not to block.
int refuse_flags(const iocb& what, const Description& of) noexcept {
  constexpr __kernel_rwf_t kSyncs = RWF_DSYNC | RWF_SYNC;
  const __kernel_rwf_t direct = (of.status & O_DIRECT) != 0 ? RWF_NOWAIT : 0;
  const __kernel_rwf_t known = RWF_HIPRI | kSyncs | direct;
  return (static_cast<__kernel_rwf_t>(what.aio_rw_flags) & ~known) != 0 ? -EOPNOTSUPP : 0;
}

/// The pieces of memory that a transfer is about; a negative errno when there are none.
int find_pieces(const iocb& what, std::vector<iovec>& pieces) {
  auto* const memory = reinterpret_cast<void*>(what.aio_buf);
  if (!has_pieces(what)) {
    if (memory == nullptr && what.aio_nbytes > 0) return -EFAULT;
    pieces.push_back({memory, what.aio_nbytes});
    return 0;
  }
  if (what.aio_nbytes > IOV_MAX) return -EINVAL;
  if (memory == nullptr && what.aio_nbytes > 0) return -EFAULT;
  const auto* const first = static_cast<const iovec*>(memory);
  pieces.assign(first, first + what.aio_nbytes);
  return 0;
}

}  // namespace

// --- queues ---

int SimKernelFiles::open_queue(unsigned most, aio_context_t& queue) {
  if (const int code = kernel_.enter("io_setup")) return code;
  if (queue != 0 || most == 0 || most > kMostOfAQueue) return -EINVAL;
  std::uint64_t all = most;
  for (const auto& each : queues_) all += each->most();
  if (all > kMostCalls) return -EAGAIN;
  queues_.push_back(std::make_shared<FileQueue>(machine_, kernel_.table_.next_serial(), most));
  queue = queues_.back()->number();
  return 0;
}

std::shared_ptr<FileQueue> SimKernelFiles::find_queue(aio_context_t number) const noexcept {
  const auto found = std::find_if(queues_.begin(), queues_.end(),
                                  [number](const auto& each) { return each->number() == number; });
  return found == queues_.end() ? nullptr : *found;
}

// Who is interrupted does not wait for the rest, which ends all the same.
int SimKernelFiles::close_queue(aio_context_t number) {
  if (const int code = kernel_.enter("io_destroy")) return code;
  const std::shared_ptr<FileQueue> queue = find_queue(number);
  if (queue == nullptr) return -EINVAL;
  std::erase(queues_, queue);
  queue->close();
  for (auto poll = queued_polls_.begin(); poll != queued_polls_.end();) {
    QueuedPoll& next = *poll++;
    if (next.entry().queue == queue) next.cancel();
  }
  while ((queue->readiness() & EPOLLOUT) == 0) {
    const auto wait = [&](const SourcePlace& place, Event*) {
      ReadyWait event(current_runtime(), machine_, "io_destroy", {{queue, EPOLLOUT, -1}});
      fermata::wait(event, {}, place);
    };
    if (kernel_.suspended_if_possible(wait, false) != 0) break;
  }
  return 0;
}

void SimKernelFiles::drop_queues() {
  queued_polls_.clear();
  while (!queued_calls_.empty()) {
    QueuedCall& next = queued_calls_.front();
    const bool lasts = next.changes() && !machine_.over() && !machine_.is_down();
    if (lasts) static_cast<void>(perform(next));
    queued_calls_.pop_front();
  }
  queues_.clear();
}

// --- calls ---

int SimKernelFiles::submit(aio_context_t number, std::span<iocb* const> calls) {
  kernel_.drop_if_endless();
  if (const int code = kernel_.enter("io_submit")) return code;
  const std::shared_ptr<FileQueue> queue = find_queue(number);
  if (queue == nullptr) return -EINVAL;
  if (!calls.empty() && calls.data() == nullptr) return -EFAULT;
  int taken = 0;
  for (iocb* const each : calls) {
    const int code = each == nullptr ? -EFAULT : submit_one(queue, *each);
    if (code != 0) return taken > 0 ? taken : code;
    ++taken;
  }
  return taken;
}

int SimKernelFiles::submit_one(const std::shared_ptr<FileQueue>& queue, iocb& asked) {
  const iocb what = asked;
  if (what.aio_reserved2 != 0 || static_cast<std::int64_t>(what.aio_nbytes) < 0) return -EINVAL;
  if (queue->is_full()) return -EAGAIN;
  int code = 0;
  std::shared_ptr<Description> found = kernel_.share(static_cast<int>(what.aio_fildes), code);
  if (found == nullptr) return code;
  if ((found->status & O_PATH) != 0) return -EBADF;
  QueueEntry entry = {&asked, what.aio_data, queue, nullptr};
  if ((what.aio_flags & IOCB_FLAG_RESFD) != 0) {
    entry.counter = kernel_.share(static_cast<int>(what.aio_resfd), code);
    if (entry.counter == nullptr) return code;
    if (dynamic_cast<EventCounter*>(entry.counter.get()) == nullptr) return -EINVAL;
  }
  asked.aio_key = 0;
  switch (what.aio_lio_opcode) {
    case IOCB_CMD_PREAD:
    case IOCB_CMD_PWRITE:
    case IOCB_CMD_PREADV:
    case IOCB_CMD_PWRITEV:
      return submit_transfer(std::move(entry), what, std::move(found));
    case IOCB_CMD_FSYNC:
    case IOCB_CMD_FDSYNC:
      return submit_sync(std::move(entry), what, std::move(found));
    case IOCB_CMD_POLL:
      return submit_poll(std::move(entry), what, std::move(found));
    default:
      return -EINVAL;
  }
}

// A transfer of anything but a file happens now, and waits for that if it blocks. It counts once it
// has ended, since a handler that runs meanwhile may jump away from here.
int SimKernelFiles::submit_transfer(QueueEntry entry, const iocb& what,
                                    std::shared_ptr<Description> found) {
  if (const int code = refuse_flags(what, *found)) return code;
  OpenFile* const file = found->as_file();
  if (file == nullptr) {
    std::vector<iovec> pieces;
    if (const int code = find_pieces(what, pieces)) return code;
    const int descriptor = static_cast<int>(what.aio_fildes);
    const ssize_t result = writes(what) ? kernel_.write_to(found, descriptor, pieces)
                                        : kernel_.read_from(found, descriptor, pieces);
    entry.queue->begin();
    entry.end(result);
    return 0;
  }
  const int refused = writes(what) ? file->refuse_writing() : file->refuse_reading();
  if (refused != 0) return refused == -EISDIR ? -EINVAL : refused;
  if (what.aio_offset < 0) return -EINVAL;
  std::vector<iovec> pieces;
  if (const int code = find_pieces(what, pieces)) return code;
  QueuedCall& call = add_call(std::move(entry), what);
  call.pieces = std::move(pieces);
  call.file = std::static_pointer_cast<OpenFile>(std::move(found));
  if (writes(what)) {
    call.written = gather(call.pieces);
    call.pieces = {{call.written.data(), call.written.size()}};
  }
  enqueue(call);
  return 0;
}

QueuedCall& SimKernelFiles::add_call(QueueEntry entry, const iocb& what) {
  QueuedCall::Owner& owner = *this;
  return queued_calls_.emplace_back(owner, std::move(entry), what);
}

int SimKernelFiles::submit_sync(QueueEntry entry, const iocb& what,
                                std::shared_ptr<Description> found) {
  const bool has_more = what.aio_buf != 0 || what.aio_offset != 0 || what.aio_nbytes != 0;
  if (has_more || what.aio_rw_flags != 0 || found->as_file() == nullptr) return -EINVAL;
  QueuedCall& call = add_call(std::move(entry), what);
  call.file = std::static_pointer_cast<OpenFile>(std::move(found));
  enqueue(call);
  return 0;
}

int SimKernelFiles::submit_poll(QueueEntry entry, const iocb& what,
                                std::shared_ptr<Description> found) {
  constexpr std::uint64_t kEvents = 0xffff;
  const bool has_more = what.aio_offset != 0 || what.aio_nbytes != 0 || what.aio_rw_flags != 0;
  if (has_more || what.aio_buf > kEvents) return -EINVAL;
  entry.queue->begin();
  QueuedPoll& poll =
      queued_polls_.emplace_back(machine_, queued_polls_, std::move(entry), std::move(found),
                                 static_cast<Readiness>(what.aio_buf));
  poll.begin(std::prev(queued_polls_.end()));
  return 0;
}

// --- what the disk does ---

SimKernelFiles::Job SimKernelFiles::job_of(const QueuedCall& call) noexcept {
  const Deed& sync = call.file->is_directory() ? kSyncDirectory : kSync;
  const Deed& deed = syncs(call.what) ? sync : writes(call.what) ? kWrite : kRead;
  return {.call = "io_submit", .deed = deed, .path = call.file->path(), .bytes = call.pieces};
}

void SimKernelFiles::enqueue(QueuedCall& call) {
  const Job job = job_of(call);
  const auto words = [&] { return text(job); };
  FERMATA_ASSERT(&call == &queued_calls_.back());
  call.self = std::prev(queued_calls_.end());
  call.entry.queue->begin();
  call.noted = note(job);
  const Duration time =
      faults_.latency({DiskCall::key_of(machine_, job.deed.name, job.path), words});
  machine_.agenda().schedule(
      call, machine_.now() + time,
      key_of(key_of(machine_.key(), "disk of foreign code"), next_number_++));
}

void SimKernelFiles::carry_out(QueuedCall& call) {
  if (machine_.over()) return;
  const QueueEntry entry = call.entry;
  const std::int64_t result = perform(call);
  queued_calls_.erase(call.self);
  entry.end(result);
}

std::int64_t SimKernelFiles::perform(QueuedCall& call) {
  const Job job = job_of(call);
  const auto words = [&] { return text(job); };
  return perform(job, {DiskCall::key_of(machine_, job.deed.name, job.path), words}, call.noted,
                 [&](const DiskCall& work) { return act(call, work); });
}

std::int64_t SimKernelFiles::act(const QueuedCall& call, const DiskCall& work) {
  off64_t offset = call.what.aio_offset;
  OpenFile& file = *call.file;
  if (syncs(call.what)) return sync_file(work, file.inode(), posix::Sync::File);
  if (!writes(call.what)) return read_from(file, work, call.pieces, offset);
  const bool lasts = (call.what.aio_rw_flags & (RWF_DSYNC | RWF_SYNC)) != 0;
  return write_to(file, work, call.pieces, offset, lasts);
}

// --- results ---

// Only what waits for readiness can be cancelled.
int SimKernelFiles::cancel(aio_context_t number, const iocb* call) {
  if (const int code = kernel_.enter("io_cancel")) return code;
  if (call == nullptr) return -EFAULT;
  const std::shared_ptr<FileQueue> queue = find_queue(number);
  if (queue == nullptr || call->aio_key != 0) return -EINVAL;
  const auto found =
      std::find_if(queued_polls_.begin(), queued_polls_.end(), [&](const QueuedPoll& each) {
        return each.entry().queue == queue && each.entry().asked == call;
      });
  if (found == queued_polls_.end()) return -EINVAL;
  found->cancel();
  return -EINPROGRESS;
}

int SimKernelFiles::results(aio_context_t number, long least, std::span<io_event> room,
                            posix::Limit limit) {
  kernel_.drop_if_endless();
  if (const int code = kernel_.enter("io_getevents")) return code;
  const std::shared_ptr<FileQueue> queue = find_queue(number);
  if (queue == nullptr || least < 0 || least > static_cast<long>(room.size())) return -EINVAL;
  const Instant end = limit ? kernel_.shown_now() + *limit : Instant::never();
  std::size_t taken = 0;
  for (;;) {
    taken += queue->fetch(room.subspan(taken));
    if (queue->is_closed() && taken == 0) return -EINVAL;
    if (queue->is_closed() || taken >= static_cast<std::size_t>(least)) break;
    if (limit && kernel_.shown_now() >= end) break;
    const posix::Limit rest = limit ? posix::Limit(end - kernel_.shown_now()) : std::nullopt;
    const int waited = kernel_.wait("io_getevents", {{queue, EPOLLIN, -1}}, rest, false);
    if (waited != 0 && waited != -ETIMEDOUT) return taken > 0 ? static_cast<int>(taken) : waited;
  }
  if (taken == 0) kernel_.idle();
  return static_cast<int>(taken);
}

}  // namespace fermata::sim::detail
