// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fleet/worker_status.hpp"

#include "fermata/io/file_system.hpp"
#include "fermata/sim/base/json.hpp"

namespace fermata::sim::fleet {

std::string WorkerStatus::json() const {
  return json_text({{"worker", worker},
                    {"state", state},
                    {"chunk", chunk},
                    {"done", done},
                    {"twice", twice},
                    {"different", different},
                    {"stolen", stolen},
                    {"lost", lost},
                    {"busy_ns", busy.count()},
                    {"began_ns", began.nanoseconds},
                    {"told_ns", told.nanoseconds}}) +
         '\n';
}

WorkerStatus WorkerStatus::parse(std::string_view text) {
  WorkerStatus status;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return status;
  const auto number = [&](const char* name) { return json.value(name, std::uint64_t{0}); };
  const auto nanoseconds = [&](const char* name) { return json.value(name, std::int64_t{0}); };
  status.worker = json.value("worker", "");
  status.state = json.value("state", "");
  status.chunk = json.value("chunk", "");
  status.done = number("done");
  status.twice = number("twice");
  status.different = number("different");
  status.stolen = number("stolen");
  status.lost = number("lost");
  status.busy = Duration(nanoseconds("busy_ns"));
  status.began.nanoseconds = nanoseconds("began_ns");
  status.told.nanoseconds = nanoseconds("told_ns");
  return status;
}

std::vector<WorkerStatus> workers_of(const PlanFolder& folder) {
  std::vector<WorkerStatus> workers;
  for (const DirectoryEntry& entry : fs::list_directory(folder.workers())) {
    if (!entry.name.ends_with(".json")) continue;
    workers.push_back(WorkerStatus::parse(fs::read_file(folder.workers() + '/' + entry.name)));
  }
  return workers;
}

}  // namespace fermata::sim::fleet
