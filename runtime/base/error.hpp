// SPDX-License-Identifier: Apache-2.0
#pragma once

// The exceptions of the runtime. One type for each reaction a caller can have.
//
// Error         Everything that went wrong; a std::runtime_error.
// Cancellation  A root of its own, outside std::exception, so that a handler for errors cannot
//               swallow it (CORE-CN-05).
// Previous      Both carry the failure they displaced; chains are acyclic (CORE-CN-06).

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fermata {

/// What an error replaced: a singly linked, acyclic chain, newest first.
class Chained {
 public:
  /// The failure that this one displaced, or null.
  [[nodiscard]] const std::exception_ptr& previous() const noexcept { return previous_; }
  void set_previous(std::exception_ptr previous) noexcept { previous_ = std::move(previous); }

 protected:
  Chained() = default;
  Chained(const Chained&) = default;
  Chained& operator=(const Chained&) = default;
  ~Chained() = default;

 private:
  std::exception_ptr previous_;
};

class Error : public std::runtime_error, public Chained {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller broke a precondition: a stale resume, a suspend where none is allowed.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A part that this reactor does not have.
class Unsupported : public Error {
 public:
  Unsupported(std::string_view part, std::string_view reactor);
};

/// No coroutine can ever run again (CORE-SC-10).
class DeadlockError : public Error {
 public:
  using Error::Error;
};

/// Work that keeps producing work without ever letting time or others advance.
class LivelockError : public Error {
 public:
  using Error::Error;
};

/// A wait outlived the time it was given.
class Timeout : public Error {
 public:
  using Error::Error;
};

/// No memory or no mapping left for a coroutine's stack.
class StackExhausted : public Error {
 public:
  using Error::Error;
};

/// An I/O operation failed; `code()` is a positive errno value, 0 when none applies.
class InputOutputError : public Error {
 public:
  explicit InputOutputError(const std::string& what) : Error(what) {}
  InputOutputError(std::string_view operation, int code);
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_ = 0;
};

/// A watched descriptor cannot be watched (any more).
class PollError : public InputOutputError {
 public:
  using InputOutputError::InputOutputError;
};

/// Several failures of one operation, in the order in which they happened.
class CompositeError : public Error {
 public:
  explicit CompositeError(std::vector<std::exception_ptr> errors);
  [[nodiscard]] const std::vector<std::exception_ptr>& errors() const noexcept { return errors_; }

 private:
  std::vector<std::exception_ptr> errors_;
};

/// The request to stop, delivered at a suspension point. Catch it to clean up, then rethrow.
class Cancellation : public Chained {
 public:
  explicit Cancellation(std::string what = "Coroutine cancelled") : what_(std::move(what)) {}
  virtual ~Cancellation() = default;
  Cancellation(const Cancellation&) = default;
  Cancellation& operator=(const Cancellation&) = default;
  [[nodiscard]] const char* what() const noexcept { return what_.c_str(); }

 private:
  std::string what_;
};

/// One wait was abandoned because its token fired; the coroutine itself is not cancelled.
class OperationCanceled : public Cancellation {
 public:
  explicit OperationCanceled(std::string what = "Operation has been cancelled")
      : Cancellation(std::move(what)) {}
};

/// Unwinds a coroutine that must not run any further. Never catch it without rethrowing.
struct ForcedUnwind {};

/// True when `error` holds a Cancellation of any kind.
[[nodiscard]] bool is_cancellation(const std::exception_ptr& error) noexcept;

/// True when `error` holds a ForcedUnwind.
[[nodiscard]] bool is_forced_unwind(const std::exception_ptr& error) noexcept;

/// "type: text" of the error and of its whole previous chain, newest first.
[[nodiscard]] std::string describe(const std::exception_ptr& error);

/// The text of the error alone, as `what()` gives it.
[[nodiscard]] std::string message_of(const std::exception_ptr& error);

/// The errors of the chain that starts at `error`, newest first.
[[nodiscard]] std::vector<std::exception_ptr> chain_of(const std::exception_ptr& error);

/// Makes `older` the end of `newer`'s previous chain and returns the head. An error already in the
/// chain is not linked again. A head that cannot carry a chain (not one of ours) is wrapped,
/// together with `older`, in a CompositeError.
[[nodiscard]] std::exception_ptr link_previous(std::exception_ptr newer, std::exception_ptr older);

}  // namespace fermata
