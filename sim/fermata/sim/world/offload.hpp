// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>

#include "fermata/base/assert.hpp"
#include "fermata/reactor/offload.hpp"
#include "fermata/sim/machine/agenda.hpp"

namespace fermata::sim::detail {

class Machine;

/// Work on virtual threads. It runs, at once and whole, on the only real thread, at the time when
/// it is drawn to end; nobody can see it half done.
class SimOffload final : public backend::Offload {
 public:
  static constexpr std::size_t kThreads = 4;

  SimOffload(fermata::detail::Attachment& attachment, Machine& machine)
      : backend::Offload(attachment), machine_(machine) {}
  ~SimOffload() override { FERMATA_ASSERT(jobs_.empty()); }

 private:
  enum class Stage : std::uint8_t { Queued, Running, Cancelled };

  struct Job final : Happening {
    Job(SimOffload& o, backend::Task& t, std::uint64_t n) : offload(o), task(t), number(n) {}
    void happen() override { offload.end(*this); }
    SimOffload& offload;
    backend::Task& task;
    std::uint64_t number;
    Stage stage = Stage::Queued;
    std::list<Job>::iterator self;
  };

  void enqueue(backend::Task& task) override;
  bool dequeue(backend::Task& task) noexcept override;
  void start_queued();
  void end(Job& job);

  Machine& machine_;
  std::list<Job> jobs_;  // In the order in which they were queued.
  std::size_t running_ = 0;
  std::uint64_t next_number_ = 0;
};

}  // namespace fermata::sim::detail
