// SPDX-License-Identifier: Apache-2.0
#pragma once

// What mutex, semaphore, condition, once and barrier have in common: a name, the place where they
// were made, and a line of waiters.
//
// Ownership    Each is embedded in its owner, like its namesake in std, and must outlive its use.
//              One that goes while somebody holds it or waits at it is a bug of the program: an
//              unhandled UsageError that ends the run. When it goes because of an exception that is
//              only logged, unless another coroutine holds it: the exception says more. So it is
//              while coroutines are unwound by force.
// Runtime      It belongs to the runtime that is running where it is made.
// Forced end   Who is unwound by force no longer takes anything, and gives back what it holds.

#include <cstdint>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/base/given_name.hpp"
#include "fermata/base/name.hpp"
#include "fermata/base/source_place.hpp"
#include "fermata/core/event.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/operation.hpp"
#include "fermata/sync/wait_queue.hpp"

namespace fermata::detail {

/// The coroutine that calls, as a part of the operation on a primitive.
[[nodiscard]] inline CoroutineBase& caller() {
  CoroutineBase* const current = current_runtime().current();
  FERMATA_REQUIRE(current != nullptr, "only a coroutine can use this");
  return *current;
}

/// Whether that is being unwound by force.
[[nodiscard]] bool unwinding(const CoroutineBase* coroutine) noexcept;

class Holder;

class Primitive : public Event {
 public:
  /// "Mutex 'ledger' created at bank.cpp:12" and its state.
  [[nodiscard]] std::string info() const override = 0;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;
  [[nodiscard]] bool lines_are_in_order() const noexcept override { return line_.is_in_order(); }

 protected:
  /// `kind` is what people call it, "Mutex".
  Primitive(const char* kind, Name&& name, const SourcePlace& place);
  ~Primitive() override = default;

  /// First thing in the destructor of each: nobody may have it, if there is a `holder`, or wait.
  void retire(const Holder* holder = nullptr) noexcept;

  /// Parks `me`, which stands in line, until it is granted its turn, and leaves the line. When the
  /// wait ends otherwise, `give_up(granted)` repairs the primitive, unless that has gone meanwhile.
  template <class GiveUp>
  void wait_turn(Waiter& me, const WaitOptions& options, const SourcePlace& place, GiveUp give_up) {
    try {
      me.park(*this, options, place);
    } catch (...) {
      if (me.in_line()) {
        touched();
        give_up(me.leave());
      }
      throw;
    }
    touched();
    me.leave();
  }

  void log_wait(backend::WaitAct act, const SourcePlace* place, std::uint64_t detail = 0) const {
    runtime().kernel().log_wait(act, *this, place, detail);
  }

  [[nodiscard]] std::string title() const;
  /// The error that says who it is, and `what` was wrong.
  [[nodiscard]] UsageError misuse(const std::string& what) const;

  WaitQueue line_;

 private:
  friend struct DebuggerNames;

  void dispose() noexcept override {}

  const char* kind_;
  Name name_;
  SourcePlace place_;
};

/// The holder of something, and since when; outlives that coroutine.
class Holder {
 public:
  [[nodiscard]] bool nobody() const noexcept { return id_ == 0; }
  [[nodiscard]] bool is(const CoroutineBase& coroutine) const noexcept {
    return id_ == coroutine.id();
  }
  void set(const CoroutineBase& coroutine, const SourcePlace& place) noexcept {
    id_ = coroutine.id();
    place_ = place;
  }
  void clear() noexcept { id_ = 0; }
  /// 0 for nobody.
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  void explain(backend::WaitFacts& facts) const {
    if (!nobody()) facts.held_by(id_, &place_);
  }

  /// "'teller' since bank.cpp:31"; "nobody".
  [[nodiscard]] std::string info(const Runtime& runtime) const;

 private:
  std::uint64_t id_ = 0;
  SourcePlace place_;
};

}  // namespace fermata::detail
