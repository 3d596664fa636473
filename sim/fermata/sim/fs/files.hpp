// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files of a simulated machine. An operation takes effect, whole, at the time when it is drawn to
// end; nobody can see it half done.

#include <cstdint>
#include <list>
#include <map>

#include "fermata/reactor/files.hpp"
#include "fermata/sim/fs/disk.hpp"
#include "fermata/sim/fs/disk_faults.hpp"
#include "fermata/sim/fs/file_locks.hpp"
#include "fermata/sim/fs/shared_disk.hpp"
#include "fermata/sim/machine/agenda.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

class Machine;

class SimFiles final : public backend::Files {
 public:
  /// `shared` may get further disks later.
  SimFiles(fermata::detail::Attachment& attachment, Machine& machine, Disk& disk,
           const SharedDisks& shared)
      : backend::Files(attachment),
        machine_(machine),
        disk_(disk),
        shared_(shared),
        faults_(machine) {}
  ~SimFiles() override;

 private:
  struct Job final : Happening, FileLocks::Waiter {
    Job(SimFiles& f, backend::FileOperation& o, std::uint64_t k) : files(f), operation(o), key(k) {}
    ~Job() { stop_waiting(); }
    void happen() override { files.end(*this); }
    void look() override { files.look(*this); }
    void stop_waiting() noexcept;
    SimFiles& files;
    backend::FileOperation& operation;
    std::uint64_t key;  // Of what it does and where.
    bool withdrawn = false;
    bool waits_for_lock = false;
    Disk* waits_on = nullptr;             // The disk with that lock.
    std::optional<RunLog::CallId> noted;  // In the run log.
    std::list<Job>::iterator self;
  };
  struct OpenFile {
    Disk* disk = nullptr;
    std::shared_ptr<SharedDisk> shared;  // That it is a part of; null for the machine's own.
    std::uint64_t life = 0;              // The disk's life when the file was opened.
    Disk::Inode inode = 0;
    OpenMode mode;

    /// Whether it is open still: a server that has crashed knows it no more.
    [[nodiscard]] bool is_known() const noexcept { return disk->life() == life; }
  };
  /// A path, and the disk that it leads to.
  struct Where {
    Disk* disk;
    std::shared_ptr<SharedDisk> shared;  // Null for the machine's own.
    std::string path;                    // On that disk.
  };
  struct Answer {
    int code = 0;
    std::size_t moved = 0;
  };

  int enqueue(backend::FileOperation& operation) override;
  void withdraw(backend::FileOperation& operation) noexcept override;
  void unlock(int file) noexcept override;
  void explain_lock(const backend::FileOperation& operation,
                    backend::WaitFacts& facts) const override;

  void begin_later(Job& job, Instant when);
  void end(Job& job);
  Answer perform(backend::FileOperation& operation, const DiskCall& call);
  Answer perform_on(const OpenFile& file, backend::FileOperation& operation, const DiskCall& call);
  int perform_at_path(backend::FileOperation& operation, const DiskCall& call);
  int change_names(const Where& where, const backend::FileOperation& operation,
                   const DiskCall& call);
  int list(const Where& where, backend::FileOperation& operation, const DiskCall& call);
  [[nodiscard]] Where where(const std::string& path) const;
  /// Gives the disk the time of what happens to it now.
  void set_time(Disk& disk) const;
  static void let_go(const OpenFile& file);
  Answer open(backend::FileOperation& operation, const DiskCall& call);
  void close(int file);
  Answer read(const OpenFile& file, backend::FileOperation& operation, const DiskCall& call);
  Answer write(const OpenFile& file, backend::FileOperation& operation, const DiskCall& call);
  int sync(const OpenFile& file, const DiskCall& call);
  Answer lock(const OpenFile& file, const backend::FileOperation& operation);
  /// What the operation wants of its file.
  [[nodiscard]] static FileLocks::Lock wanted_lock(const OpenFile& file,
                                                   const backend::FileOperation& operation);
  [[nodiscard]] bool is_hindered(const backend::FileOperation& operation) const;
  /// Whether the job goes on waiting for a lock that somebody else has.
  [[nodiscard]] bool waits_on(Job& job);
  void look(Job& job);
  /// Whether there is no space for what the operation would make.
  [[nodiscard]] bool is_full(const DiskCall& call, const Where& where);
  /// "the write to 'settings'", for people.
  [[nodiscard]] std::string text(const backend::FileOperation& operation) const;

  Machine& machine_;
  Disk& disk_;
  const SharedDisks& shared_;
  DiskFaults faults_;
  std::map<int, OpenFile> open_;  // By number; each is the owner of its lock.
  std::list<Job> jobs_;
  std::uint64_t next_number_ = 0;
};

}  // namespace fermata::sim::detail
