// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/lock_wait.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/core/wait_facts.hpp"

namespace fermata::sim::detail {

LockWait::LockWait(Runtime& runtime, Machine& machine, const char* call, const std::string& path,
                   FileLocks& locks, FileLocks::Inode inode, const FileLocks::Lock& wanted)
    : Event(runtime, backend::EventKind::Poll),
      machine_(machine),
      call_(call),
      path_(path),
      locks_(locks),
      inode_(inode),
      wanted_(wanted),
      report_(*this) {}

std::string LockWait::info() const { return fmt::format("{} {}", call_, path_); }

void LockWait::explain_wait(backend::WaitFacts& facts, const CoroutineBase&) const {
  facts.is(call_, path_, nullptr);
  locks_.explain(inode_, wanted_, facts);
}

void LockWait::arm() {
  FERMATA_ASSERT(!report_.is_scheduled());
  locks_.add(*this);
  look();
}

void LockWait::disarm() noexcept {
  FERMATA_ASSERT(loop_ref_count() == 0);
  report_.cancel();
  locks_.remove(*this);
}

void LockWait::look() {
  FERMATA_ASSERT(!is_closed());
  if (report_.is_scheduled() || locks_.obstacle(inode_, wanted_) != nullptr) return;
  machine_.agenda().schedule(report_, machine_.earliest_visible_time(), machine_.key());
}

// Somebody else may have taken it.
void LockWait::tell() {
  FERMATA_ASSERT(!report_.is_scheduled());
  if (locks_.obstacle(inode_, wanted_) == nullptr) notify({});
}

}  // namespace fermata::sim::detail
