// SPDX-License-Identifier: Apache-2.0
#pragma once

// One I/O operation: an event that closes when the operation has ended.
//
// Ownership  Lives where its caller puts it, typically in the caller's stack frame, and submits
//            itself when it is made. Its end before completion abandons the operation: the backend
//            will not touch the caller's memory any more (IO-07, IO-08).
// Activity   From submission to completion.
// Results    Kept: whoever waits late is answered at once.
// Source     IO-01 to IO-16.

#include <cstddef>
#include <exception>

#include "fermata/core/event.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata::backend {

/// The most bytes that one operation moves (IO-12).
inline constexpr std::size_t kTransferMax = 0x7ffff000;

class Request : public Event {
 public:
  [[nodiscard]] bool is_completed() const noexcept { return is_closed(); }
  /// Bytes moved; 0 before completion and on failure.
  [[nodiscard]] std::size_t transferred() const noexcept { return transferred_; }
  [[nodiscard]] const std::exception_ptr& error() const noexcept { return outcome_.error; }

  [[nodiscard]] const Outcome* replay() const noexcept override {
    return is_closed() ? &outcome_ : nullptr;
  }
  [[nodiscard]] std::string info() const override;
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

 protected:
  /// `operation` is a literal: what error texts and reports call it.
  FERMATA_HOT Request(Runtime& runtime, const char* operation)
      : Event(runtime, EventKind::Request), operation_(operation) {
    start_unarmed(runtime.kernel());
  }
  ~Request() override = default;

  /// The operation has succeeded, or failed: one of them, once (IO-01). What subscribers throw goes
  /// to the runtime as unhandled.
  void complete(std::size_t transferred) noexcept;
  void fail(std::exception_ptr error) noexcept;
  /// With "operation: text of the error number".
  void fail(int code) noexcept;

  [[nodiscard]] const char* operation() const noexcept { return operation_; }

 private:
  void finish() noexcept;
  void dispose() noexcept override {}

  const char* operation_;
  std::size_t transferred_ = 0;
  Outcome outcome_;
};

}  // namespace fermata::backend
