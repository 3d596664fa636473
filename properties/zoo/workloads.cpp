// SPDX-License-Identifier: Apache-2.0
#include "properties/zoo/workload.hpp"

#include <utility>

#include "properties/laws/bystanders.hpp"

namespace fermata::properties::zoo {
namespace {

std::vector<Workload> catalogue() {
  std::vector<Workload> all;
  const auto add = [&](std::vector<Workload> group) {
    for (Workload& workload : group) all.push_back(std::move(workload));
  };
  add(callback_workloads());
  add(waker_workloads());
  add(cancellation_workloads());
  add(deadlock_workloads());
  add(timer_workloads());
  add(pool_workloads());
  add(database_workloads());
  add(channel_workloads());
  add(lock_workloads());
  add(scope_workloads());
  add(io_workloads());
  add(thread_workloads());
  add(loop_workloads());
  return all;
}

}  // namespace

std::span<const Workload> workloads() {
  static const std::vector<Workload> all = catalogue();
  return all;
}

sim::Program exploration_of(const Workload& workload) {
  return exploration_of(seeded(among_bystanders(workload.body)));
}

bool is_about(const Workload& workload, std::string_view message) {
  for (const std::string_view broken : workload.breaks) {
    if (message.find(broken) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace fermata::properties::zoo
