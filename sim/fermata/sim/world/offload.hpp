// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>

#include "fermata/base/assert.hpp"
#include "fermata/reactor/offload.hpp"
#include "fermata/sim/machine/agenda.hpp"

namespace fermata::sim::detail {

class Machine;
class SimKernel;

/// Work on virtual threads. It runs, at once and whole, on the only real thread, at the time when
/// it is drawn to end; nobody can see it half done. In a program with fermata::posix it begins at
/// that time, as a thread of the process, which may wait in served calls.
class SimOffload final : public backend::Offload {
 public:
  static constexpr std::size_t kThreads = 4;

  SimOffload(fermata::detail::Attachment& attachment, Machine& machine, SimKernel& kernel)
      : backend::Offload(attachment), machine_(machine), kernel_(kernel) {}
  ~SimOffload() override { FERMATA_ASSERT(jobs_.empty()); }

  void begin_threads() noexcept { has_threads_ = true; }
  /// No coroutine runs any more: what has not begun does not begin.
  void end_threads() noexcept;

 private:
  enum class Stage : std::uint8_t { Queued, Running, InThread, Done, Cancelled };

  struct Job final : Happening {
    Job(SimOffload& o, backend::Task& t, std::uint64_t n) : offload(o), task(t), number(n) {}
    void happen() override { offload.happened(*this); }
    SimOffload& offload;
    backend::Task& task;
    std::uint64_t number;
    Stage stage = Stage::Queued;
    std::list<Job>::iterator self;
  };

  void enqueue(backend::Task& task) override;
  bool dequeue(backend::Task& task) noexcept override;
  void start_queued();
  void happened(Job& job);
  /// Whether what waits in a served call can be waited for.
  [[nodiscard]] bool is_served() const noexcept;
  /// False when there can be no more threads.
  [[nodiscard]] bool start_thread(Job& job);
  void schedule_end(Job& job, Stage stage) noexcept;
  void end(Job& job);

  Machine& machine_;
  SimKernel& kernel_;
  bool has_threads_ = false;
  std::list<Job> jobs_;  // In the order in which they were queued.
  std::size_t running_ = 0;
  std::uint64_t next_number_ = 0;
};

}  // namespace fermata::sim::detail
