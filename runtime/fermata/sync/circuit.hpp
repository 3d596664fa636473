// SPDX-License-Identifier: Apache-2.0
#pragma once

// The circuit breaker of a pool: who may acquire while the service behind it is failing.
//
//   ACTIVE ──deactivate──▶ INACTIVE ──recover──▶ RECOVERING ──activate──▶ ACTIVE
//
// Each state can be entered from any other. In INACTIVE every acquire fails at once. A strategy
// decides when to change; without one the program does. Nothing here suspends.

#include <cstdint>
#include <exception>

#include "fermata/base/time.hpp"

namespace fermata {

enum class CircuitState : std::uint8_t { Active, Inactive, Recovering };

[[nodiscard]] const char* to_string(CircuitState state) noexcept;

/// The circuit that a strategy observes and switches: a pool.
class Circuit {
 public:
  [[nodiscard]] virtual CircuitState state() const noexcept = 0;
  virtual void activate() = 0;
  virtual void deactivate() = 0;
  virtual void recover() = 0;

 protected:
  ~Circuit() = default;
};

/// Called between two steps of a pool's work: must not suspend. What it throws goes to the log.
class CircuitStrategy {
 public:
  virtual ~CircuitStrategy() = default;
  /// A resource came back in order.
  virtual void report_success(Circuit& source) = 0;
  /// A resource came back broken, or could not be made.
  virtual void report_failure(Circuit& source, const std::exception_ptr& error) = 0;
  /// Asked by each acquire while `source` is INACTIVE; true makes it RECOVERING.
  virtual bool should_recover(Circuit& source) = 0;
};

/// Opens after `limit` failures in a row; lets the service be tried again when `cool_down` has
/// passed in the runtime's time: the next success closes the circuit, the next failure opens it
/// again. For one pool.
class ConsecutiveFailures final : public CircuitStrategy {
 public:
  /// Throws UsageError when `limit` is 0 or `cool_down` is negative.
  ConsecutiveFailures(unsigned limit, Duration cool_down);

  void report_success(Circuit& source) override;
  void report_failure(Circuit& source, const std::exception_ptr& error) override;
  bool should_recover(Circuit& source) override;

 private:
  unsigned limit_;
  Duration cool_down_;
  unsigned failures_ = 0;  // In a row.
  Instant opened_at_;
};

}  // namespace fermata
