// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/disk_wait.hpp"

#include <fmt/format.h>

#include "fermata/core/wait_facts.hpp"

namespace fermata::sim::detail {

DiskWait::DiskWait(Runtime& runtime, Machine& machine, const char* call, const std::string& path,
                   Instant when, std::uint64_t source)
    : Event(runtime, backend::EventKind::Poll),
      machine_(machine),
      call_(call),
      path_(path),
      when_(when),
      source_(source),
      end_(*this) {}

DiskWait::~DiskWait() { close(); }

std::string DiskWait::info() const { return fmt::format("{} {}", call_, path_); }

void DiskWait::explain_wait(backend::WaitFacts& facts, const CoroutineBase&) const {
  facts.is(call_, path_, nullptr);
  facts.outside("the disk");
}

void DiskWait::arm() {
  FERMATA_ASSERT(when_ >= machine_.now());
  machine_.agenda().schedule(end_, when_, source_);
}

}  // namespace fermata::sim::detail
