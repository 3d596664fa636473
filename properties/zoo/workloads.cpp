// SPDX-License-Identifier: Apache-2.0
#include "properties/zoo/workload.hpp"

#include <algorithm>
#include <utility>

#include "properties/laws/bystanders.hpp"

namespace fermata::properties::zoo {
namespace {

std::vector<Workload>& registered() {
  static std::vector<Workload> all;
  return all;
}

}  // namespace

RegisteredWorkload::RegisteredWorkload(Workload workload) {
  std::vector<Workload>& all = registered();
  const auto place =
      std::lower_bound(all.begin(), all.end(), workload,
                       [](const Workload& a, const Workload& b) { return a.mutant < b.mutant; });
  all.insert(place, std::move(workload));
}

std::span<const Workload> workloads() { return registered(); }

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
