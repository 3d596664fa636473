// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fermata/core/event.hpp"
#include "fermata/sim/fs/file_locks.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/machine/member_happening.hpp"

namespace fermata::sim::detail {

/// Fires when there is no obstacle to a lock any more. Lives in the frame of a coroutine that waits
/// for it.
class LockWait final : public Event, private FileLocks::Waiter {
 public:
  /// `call` is what reports call the wait.
  LockWait(Runtime& runtime, Machine& machine, const char* call, const std::string& path,
           FileLocks& locks, FileLocks::Inode inode, const FileLocks::Lock& wanted);
  ~LockWait() override { close(); }

  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  void arm() override;
  void disarm() noexcept override;
  void dispose() noexcept override {}
  void look() override;
  void tell();

  Machine& machine_;
  const char* call_;
  const std::string& path_;
  FileLocks& locks_;
  FileLocks::Inode inode_;
  FileLocks::Lock wanted_;
  MemberHappening<LockWait, &LockWait::tell> report_;
};

}  // namespace fermata::sim::detail
