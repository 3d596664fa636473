// SPDX-License-Identifier: Apache-2.0
#pragma once

// Does the chunks of a plan, one after the other, until all have a result. Any number of workers
// may come, go, be killed, or do the same: who comes finds what is left.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/sim/fleet/leases.hpp"
#include "fermata/sim/fleet/plan_end.hpp"
#include "fermata/sim/fleet/results.hpp"
#include "fermata/sim/fleet/worker_status.hpp"
#include "fermata/sim/fleet/workload.hpp"

namespace fermata::sim::fleet {

struct WorkerOptions {
  /// Names this worker, and no other that ever was or will be.
  std::string name;
  Duration lease = std::chrono::seconds(60);
  /// How long all workers together are to have chunks; nothing: until all are done.
  std::optional<Duration> time = {};
  /// Whether it is to end: asked between chunks, and while it waits.
  std::function<bool()> is_over = [] { return false; };
};

class Worker {
 public:
  enum class End : std::uint8_t { AllDone, Told };

  /// `folder` and `workload` must outlive this.
  Worker(const PlanFolder& folder, Workload& workload, WorkerOptions options);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Suspends. Throws InputOutputError when the storage does not do its part; what it had is given
  /// up then.
  End run();

  [[nodiscard]] const WorkerStatus& status() const noexcept { return status_; }

 private:
  struct Claim {
    std::size_t index;
    Lease lease;
  };

  [[nodiscard]] bool has_grown();
  void look_for_end();
  void settle();
  void look_for_results();
  [[nodiscard]] std::optional<Claim> claim();
  [[nodiscard]] bool has_result(std::size_t index);
  bool do_chunk(const Claim& claim);
  void publish(const Claim& claim, std::string_view bytes);
  void go_on(const Lease& lease);
  void tell(std::string state);
  void tell_end(std::string state);

  PlanFolder folder_;
  Workload& workload_;
  WorkerOptions options_;
  Publisher publisher_;
  Leases leases_;
  Results results_;
  std::optional<PlanEnd> end_;  // Nothing once it is decided.
  WorkerStatus status_;
  std::vector<bool> done_;  // By the index of the chunk: it has a result.
  std::size_t first_ = 0;   // All before it have one.
  std::size_t left_ = 0;    // How many have none.
  Instant told_;            // When the lease was touched last.
  bool is_lost_ = false;    // The lease that it works under.
};

}  // namespace fermata::sim::fleet
