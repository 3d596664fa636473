// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fs/disk_faults.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

namespace {

constexpr Duration kLeastLatency = std::chrono::microseconds(20);
constexpr std::uint64_t kLatencies = 8;  // Each twice the one before.
constexpr Duration kLeastSlowness = std::chrono::milliseconds(5);
constexpr std::uint64_t kSlownesses = 9;  // As well.
constexpr auto kStream = backend::RandomStream::Disk;

}  // namespace

std::uint64_t DiskCall::key_of(const Machine& machine, const char* name, const std::string& path) {
  return sim::key_of(sim::key_of(machine.key(), name), path);
}

Duration DiskFaults::latency(const DiskCall& call) {
  const auto tell_usual = [&](const Decision& decision) {
    return fmt::format("{} takes {}", call.text(), amount(kLeastLatency * (1 << decision.value)));
  };
  const auto tell_slow = [&](const Decision& decision) {
    return fmt::format("{} takes {} longer", call.text(),
                       amount(kLeastSlowness * (1 << decision.value)));
  };
  const std::uint64_t usual =
      machine_.decisions().draw(kStream, key_of(call.key, "latency"), kLatencies, tell_usual);
  const std::uint64_t slow = machine_.faults().strength(
      Fault::SlowDisk, kStream, key_of(call.key, "slowness"), kSlownesses, tell_slow);
  FERMATA_ASSERT(usual < kLatencies);
  FERMATA_ASSERT(slow < kSlownesses);
  return kLeastLatency * (1 << usual) +
         (slow == 0 ? Duration::zero() : kLeastSlowness * (1 << slow));
}

bool DiskFaults::is_withdrawn(const DiskCall& call) {
  const auto tell = [&](const Decision&) { return call.text() + " is cancelled before it begins"; };
  return machine_.decisions().draw(kStream, key_of(call.key, "withdrawn in time"), 2, tell) != 0;
}

bool DiskFaults::finds_no_space(const DiskCall& call) {
  const auto tell = [&](const Decision&) { return call.text() + " finds the disk full"; };
  return machine_.faults().strikes(Fault::DiskFull, kStream, key_of(call.key, "full"), tell);
}

bool DiskFaults::has_error(const DiskCall& call) {
  const auto tell = [&](const Decision&) { return call.text() + " fails with EIO"; };
  return machine_.faults().strikes(Fault::DiskError, kStream, key_of(call.key, "error"), tell);
}

std::size_t DiskFaults::shortened(const DiskCall& call, std::size_t size, Fault fault) {
  if (size < 2) return size;
  FERMATA_ASSERT(fault == Fault::ShortRead || fault == Fault::ShortWrite);
  const auto tell = [&](const Decision& decision) {
    return fmt::format("{} moves {}", call.text(), part_of_bytes(decision.value, size));
  };
  const std::uint64_t key =
      key_of(call.key, fault == Fault::ShortRead ? "short read" : "short write");
  const std::uint64_t part = machine_.faults().strength(fault, kStream, key, size, tell);
  FERMATA_ASSERT(part < size);
  return part == 0 ? size : static_cast<std::size_t>(part);
}

bool DiskFaults::loses_reply(const DiskCall& call) {
  const auto tell = [&](const Decision&) {
    return "the answer to " + call.text() + " is lost, and the call made again";
  };
  return machine_.faults().strikes(Fault::LostReply, kStream, key_of(call.key, "reply"), tell);
}

bool DiskFaults::is_stale(const DiskCall& call, const char* what) {
  const auto tell = [&](const Decision&) { return call.text() + what; };
  return machine_.faults().strikes(Fault::StaleFolder, kStream, key_of(call.key, "stale"), tell);
}

DiskFaults::SyncFailure DiskFaults::sync_failure(const DiskCall& call) {
  constexpr auto kCount = static_cast<std::uint64_t>(SyncFailure::GivesUp) + 1;
  const auto tell = [&](const Decision& decision) {
    const bool gives_up = static_cast<SyncFailure>(decision.value) == SyncFailure::GivesUp;
    return fmt::format("{} fails with EIO{}", call.text(),
                       gives_up ? ", and its writes will never be synced" : "");
  };
  return static_cast<SyncFailure>(machine_.faults().strength(
      Fault::DiskError, kStream, key_of(call.key, "error"), kCount, tell));
}

}  // namespace fermata::sim::detail
