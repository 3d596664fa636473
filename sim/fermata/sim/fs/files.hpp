// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files of a simulated machine. An operation takes effect, whole, at the time when it is drawn to
// end; nobody can see it half done.

#include <cstdint>
#include <list>
#include <map>

#include "fermata/reactor/files.hpp"
#include "fermata/sim/fs/disk.hpp"
#include "fermata/sim/machine/agenda.hpp"
#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

class Machine;

class SimFiles final : public backend::Files {
 public:
  SimFiles(fermata::detail::Attachment& attachment, Machine& machine, Disk& disk)
      : backend::Files(attachment), machine_(machine), disk_(disk) {}

 private:
  struct Job final : Happening {
    Job(SimFiles& f, backend::FileOperation& o, std::uint64_t k) : files(f), operation(o), key(k) {}
    void happen() override { files.end(*this); }
    SimFiles& files;
    backend::FileOperation& operation;
    std::uint64_t key;  // Of what it does and where.
    bool withdrawn = false;
    std::optional<RunLog::CallId> noted;  // In the run log.
    std::list<Job>::iterator self;
  };
  struct OpenFile {
    Disk::Inode inode = 0;
    OpenMode mode;
  };
  struct Answer {
    int code = 0;
    std::size_t moved = 0;
  };

  int enqueue(backend::FileOperation& operation) override;
  void withdraw(backend::FileOperation& operation) noexcept override;

  void end(Job& job);
  Answer perform(backend::FileOperation& operation, std::uint64_t key);
  Answer perform_on(const OpenFile& file, backend::FileOperation& operation, std::uint64_t key);
  int perform_at_path(backend::FileOperation& operation, std::uint64_t key);
  Answer open(backend::FileOperation& operation, std::uint64_t key);
  void close(int file);
  Answer read(const OpenFile& file, backend::FileOperation& operation, std::uint64_t key);
  Answer write(const OpenFile& file, backend::FileOperation& operation, std::uint64_t key);
  int sync(const OpenFile& file, const backend::FileOperation& operation, std::uint64_t key);
  [[nodiscard]] Duration latency(const backend::FileOperation& operation, std::uint64_t key);
  /// Whether there is no space for what the operation would make.
  [[nodiscard]] bool is_full(const backend::FileOperation& operation, std::uint64_t key);
  [[nodiscard]] bool finds_no_space(const backend::FileOperation& operation, std::uint64_t key);
  [[nodiscard]] bool has_error(const backend::FileOperation& operation, std::uint64_t key);
  [[nodiscard]] std::size_t shortened(const backend::FileOperation& operation, std::size_t size,
                                      Fault fault, std::uint64_t key);
  /// "the write to 'settings'", for people.
  [[nodiscard]] std::string text(const backend::FileOperation& operation) const;

  Machine& machine_;
  Disk& disk_;
  std::list<Job> jobs_;
  std::uint64_t next_number_ = 0;
  std::map<int, OpenFile> open_;  // By number.
};

}  // namespace fermata::sim::detail
