// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fleet/results.hpp"

#include <fmt/format.h>

#include "fermata/io/file_system.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/fleet/patience.hpp"

namespace fermata::sim::fleet {

Publication Results::publish(ChunkId chunk, std::string_view bytes) {
  const Publication publication =
      publisher_.publish(folder_.results_of(chunk), chunk.text(), bytes);
  if (publication == Publication::Different) {
    publisher_.publish(folder_.conflicts(), fmt::format("{}.{:016x}", chunk.text(), key_of(bytes)),
                       bytes);
  }
  return publication;
}

std::string Results::read(ChunkId chunk) const { return fs::read_file(folder_.result(chunk)); }

std::vector<ChunkId> Results::list() const {
  std::vector<ChunkId> chunks;
  for (const std::string& folder : folders()) {
    for (const DirectoryEntry& entry : patiently([&] { return fs::list_directory(folder); })) {
      if (const auto chunk = ChunkId::parse(entry.name)) chunks.push_back(*chunk);
    }
  }
  return chunks;
}

void Results::sync() const {
  for (const std::string& folder : folders()) patiently([&] { fs::sync_directory(folder); });
}

std::vector<std::string> Results::folders() const {
  std::vector<std::string> paths;
  for (const DirectoryEntry& entry :
       patiently([&] { return fs::list_directory(folder_.results()); })) {
    paths.push_back(folder_.results() + '/' + entry.name);
  }
  return paths;
}

}  // namespace fermata::sim::fleet
