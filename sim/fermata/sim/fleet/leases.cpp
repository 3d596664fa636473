// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fleet/leases.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"

namespace fermata::sim::fleet {
namespace {

/// The lease that a file's name stands for; nothing for other files.
std::optional<Lease> lease_of(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::optional<ChunkId> chunk = ChunkId::parse(name.substr(0, dot));
  const std::string_view digits = name.substr(dot + 1);
  Lease lease;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), lease.generation);
  if (!chunk || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  lease.chunk = *chunk;
  return lease;
}

}  // namespace

Leases::Leases(const PlanFolder& folder, Publisher& publisher, Duration lifetime)
    : folder_(folder), publisher_(publisher), lifetime_(lifetime) {
  FERMATA_ASSERT(lifetime > Duration::zero());
}

std::string Leases::path_of(ChunkId chunk, unsigned generation) const {
  return fmt::format("{}/{}.{}", folder_.leases(), chunk.text(), generation);
}

void Leases::refresh() {
  std::map<ChunkId, Seen> before = std::exchange(seen_, {});
  for (const DirectoryEntry& entry : fs::list_directory(folder_.leases())) {
    const std::optional<Lease> lease = lease_of(entry.name);
    if (!lease) continue;
    const auto known = before.find(lease->chunk);
    const bool is_known = known != before.end() && known->second.generation == lease->generation;
    Seen seen = is_known ? known->second : Seen{lease->generation, now(), std::nullopt};
    const auto [place, is_first] = seen_.try_emplace(lease->chunk, seen);
    if (!is_first && place->second.generation < seen.generation) place->second = seen;
  }
}

/// Looks at the file after a lifetime without news of it: once to see when it was touched, and once
/// more to see that it was not touched since.
bool Leases::is_old(ChunkId chunk, Seen& seen) {
  if (now() - seen.since < lifetime_) return false;
  std::int64_t modified = 0;
  try {
    modified = fs::status(path_of(chunk, seen.generation)).modified.nanoseconds;
  } catch (const InputOutputError& error) {
    if (error.code() != ENOENT && error.code() != ESTALE) throw;
    return false;  // Given up; the next look at all leases shows it.
  }
  if (seen.modified == modified) return true;
  seen.modified = modified;
  seen.since = now();
  return false;
}

std::optional<Lease> Leases::take(ChunkId chunk) {
  Lease lease{chunk, 0};
  if (const auto seen = seen_.find(chunk); seen != seen_.end()) {
    if (!is_old(chunk, seen->second)) return std::nullopt;
    lease.generation = seen->second.generation + 1;
  }
  const std::string path = path_of(chunk, lease.generation);
  const bool is_taken = publisher_.take_name(path, publisher_.writer() + '\n');
  seen_.insert_or_assign(chunk, Seen{lease.generation, now(), std::nullopt});
  if (!is_taken) return std::nullopt;
  return lease;
}

bool Leases::touch(const Lease& lease) {
  try {
    File file = File::open(path_of(lease.chunk, lease.generation), {.write = true});
    file.write(publisher_.writer() + '\n');
    file.sync();
  } catch (const InputOutputError& error) {
    if (error.code() != ENOENT && error.code() != ESTALE) throw;
    return false;
  }
  return !exists(path_of(lease.chunk, lease.generation + 1));
}

void Leases::release(const Lease& lease) {
  remove_file(path_of(lease.chunk, lease.generation));
  seen_.erase(lease.chunk);
}

void Leases::forget(ChunkId chunk) {
  const auto seen = seen_.find(chunk);
  if (seen == seen_.end()) return;
  for (unsigned i = 0; i <= seen->second.generation; ++i) remove_file(path_of(chunk, i));
  seen_.erase(seen);
}

}  // namespace fermata::sim::fleet
