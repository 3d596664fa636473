// SPDX-License-Identifier: Apache-2.0
#pragma once

// Wakes a runtime's coroutines from other threads.
//
// Threads      fire() from any thread and from signal handlers; everything else on the runtime's
//              thread. Producers must know that the trigger is alive: its owner takes it away from
//              them, under a lock of theirs, before it lets go of it.
// Coalescing   Any number of fires before a delivery make one notification; each fire is followed
//              by at least one (THR-03). A trigger without subscribers forgets the fire.
// Activity     While it is started (THR-04).

#include <atomic>
#include <vector>

#include "fermata/reactor/handle.hpp"

namespace fermata::backend {

class Triggers;
class WaitSubject;

/// An object that has given a trigger to other threads.
class TriggerKeeper {
 public:
  /// The trigger is about to close: take it away from them.
  virtual void before_close() noexcept = 0;

 protected:
  ~TriggerKeeper() = default;
};

class TriggerHandle final : public Handle {
 public:
  /// No effect on a closed trigger.
  void fire() noexcept;

  /// Null: nobody. The keeper must live until the trigger is closed, or has another one.
  void set_keeper(TriggerKeeper* keeper) noexcept { keeper_ = keeper; }

  /// `subject`, which must live for as long as anybody waits for this, says why it has not fired.
  void stand_for(const WaitSubject& subject) noexcept { subject_ = &subject; }
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  friend class Triggers;
  explicit TriggerHandle(Triggers& triggers);
  ~TriggerHandle() override = default;

  void close_backend() noexcept override;

  Triggers& triggers_;
  TriggerKeeper* keeper_ = nullptr;
  const WaitSubject* subject_ = nullptr;
  std::atomic<bool> open_ = true;
  std::atomic<bool> posted_ = false;
  TriggerHandle* next_ = nullptr;  // In the stack of posted triggers.
};

class Triggers {
 public:
  virtual ~Triggers() = default;

  [[nodiscard]] Ref<TriggerHandle> make();

 protected:
  explicit Triggers(detail::Attachment& attachment) noexcept : attachment_(attachment) {}

  // --- hook ---

  /// deliver() is to be called in a turn soon. From any thread and from signal handlers.
  virtual void request_delivery() noexcept = 0;

  // --- for the backend ---

  /// Notifies every trigger fired before this call, in the order of their first fires.
  void deliver();

  detail::Attachment& attachment_;

 private:
  friend class TriggerHandle;

  void post(TriggerHandle& trigger) noexcept;
  void collect();
  void forget(const TriggerHandle& trigger);

  std::atomic<TriggerHandle*> posted_ = nullptr;  // Newest first.
  std::vector<TriggerHandle*> ready_;             // Oldest first; being delivered.
};

}  // namespace fermata::backend
