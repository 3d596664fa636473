// SPDX-License-Identifier: Apache-2.0
#pragma once

// Calls in a FileQueue.

#include <linux/aio_abi.h>

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/posix/file_queue.hpp"
#include "fermata/sim/posix/open_file.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

/// What every call in a queue has.
struct QueueEntry {
  iocb* asked;  // The program's, which names the call.
  std::uint64_t data;
  std::shared_ptr<FileQueue> queue;
  std::shared_ptr<Description> counter;  // An eventfd that is told of its end; may be null.

  /// It has ended, with a negative errno or with what it gives.
  void end(std::int64_t result) const;
};

/// One that the disk carries out, when it happens.
class QueuedCall final : public Happening {
 public:
  class Owner {
   public:
    virtual void carry_out(QueuedCall& call) = 0;

   protected:
    ~Owner() = default;
  };

  QueuedCall(Owner& o, QueueEntry e, const iocb& w) : owner(o), entry(std::move(e)), what(w) {}
  void happen() override { owner.carry_out(*this); }

  /// Whether it changes what lasts.
  [[nodiscard]] bool changes() const noexcept {
    return what.aio_lio_opcode != IOCB_CMD_PREAD && what.aio_lio_opcode != IOCB_CMD_PREADV;
  }

  Owner& owner;
  QueueEntry entry;
  iocb what;  // As it was when the call was made.
  std::shared_ptr<OpenFile> file;
  std::vector<std::byte> written;  // What there was to write at that time.
  std::vector<iovec> pieces;       // To read into, or of `written`.
  std::optional<RunLog::CallId> noted;
  std::list<QueuedCall>::iterator self;
};

/// One that waits until a descriptor is ready.
class QueuedPoll final : private DescriptionWatcher {
 public:
  QueuedPoll(Machine& machine, std::list<QueuedPoll>& all, QueueEntry entry,
             std::shared_ptr<Description> watched, Readiness wanted);
  ~QueuedPoll();

  [[nodiscard]] const QueueEntry& entry() const noexcept { return entry_; }
  /// Looks for the first time. REQUIRES: `self` is its place among all.
  void begin(std::list<QueuedPoll>::iterator self);
  /// Ends it, without an answer.
  void cancel() { finish(0); }

 private:
  void look(Readiness news) override;
  void gone(Description& description) override;
  void tell();
  void finish(Readiness answer);
  [[nodiscard]] Readiness found() const { return watched_->readiness() & wanted_; }

  Machine& machine_;
  std::list<QueuedPoll>& all_;
  QueueEntry entry_;
  std::shared_ptr<Description> watched_;
  Readiness wanted_;
  MemberHappening<QueuedPoll, &QueuedPoll::tell> report_;
  std::list<QueuedPoll>::iterator self_;
};

}  // namespace fermata::sim::detail
