// SPDX-License-Identifier: Apache-2.0
#pragma once

// The exceptions of the runtime. One type for each reaction a caller can have.
//
// Error         Everything that went wrong; a std::runtime_error.
// Cancellation  A root of its own, outside std::exception, so that a handler for errors cannot
//               swallow it (CORE-CN-05).
// Previous      Both carry the failure they displaced; chains are acyclic (CORE-CN-06). Linking
//               makes copies: an exception object that others may hold is never written to.

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

namespace fermata {

namespace backend {

/// Access to the error that another one replaced: a singly linked, acyclic chain, newest first.
class Chained {
 public:
  /// The failure that this one displaced, or null.
  [[nodiscard]] const std::exception_ptr& previous() const noexcept { return previous_; }
  /// For an exception that nobody has thrown yet; use `link_previous` for any other.
  void set_previous(std::exception_ptr previous) noexcept { previous_ = std::move(previous); }

  /// A copy of the whole exception with another previous; null for a type that has not said how
  /// to make one, through `Linkable`.
  [[nodiscard]] virtual std::exception_ptr with_previous(std::exception_ptr previous) const = 0;

 protected:
  Chained() = default;
  Chained(const Chained&) = default;
  Chained& operator=(const Chained&) = default;
  ~Chained() = default;

 private:
  std::exception_ptr previous_;
};

}  // namespace backend

namespace detail {

/// The copy that `Chained::with_previous` promises, when `exception` is a Self and nothing more.
template <class Self, class Exception>
[[nodiscard]] std::exception_ptr copy_with_previous(const Exception& exception,
                                                    std::exception_ptr previous) {
  if (typeid(exception) != typeid(Self)) return nullptr;
  Self copy(static_cast<const Self&>(exception));
  copy.set_previous(std::move(previous));
  return std::make_exception_ptr(std::move(copy));
}

}  // namespace detail

class Error : public std::runtime_error, public backend::Chained {
 public:
  using std::runtime_error::runtime_error;
  [[nodiscard]] std::exception_ptr with_previous(std::exception_ptr previous) const override {
    return detail::copy_with_previous<Error>(*this, std::move(previous));
  }
};

/// The base class of error types that may head a chain and keep their type: `struct BadGateway :
/// Linkable<BadGateway> { using Linkable::Linkable; };`
template <class Self, class Base = Error>
class Linkable : public Base {
 public:
  using Base::Base;
  [[nodiscard]] std::exception_ptr with_previous(std::exception_ptr previous) const override {
    return detail::copy_with_previous<Self>(*this, std::move(previous));
  }
};

/// The caller broke a precondition: a stale resume, a suspend where none is allowed.
class UsageError : public Linkable<UsageError> {
 public:
  using Linkable::Linkable;
};

/// A FERMATA_ALWAYS does not hold, or a FERMATA_UNREACHABLE was reached.
class AssertionFailed : public Linkable<AssertionFailed> {
 public:
  using Linkable::Linkable;
};

/// A context holds no value for the key.
class ContextError : public Linkable<ContextError> {
 public:
  using Linkable::Linkable;
};

/// A part that this reactor does not have.
class Unsupported : public Linkable<Unsupported> {
 public:
  Unsupported(std::string_view part, std::string_view reactor);
};

/// No coroutine can ever run again (CORE-SC-10).
class DeadlockError : public Linkable<DeadlockError> {
 public:
  using Linkable::Linkable;
};

/// Work that keeps producing work without ever letting time or others advance.
class LivelockError : public Linkable<LivelockError> {
 public:
  using Linkable::Linkable;
};

/// A wait outlived the time it was given.
class Timeout : public Linkable<Timeout> {
 public:
  using Linkable::Linkable;
};

/// Nobody is left who could complete the future that somebody waits for.
class BrokenPromise : public Linkable<BrokenPromise> {
 public:
  using Linkable::Linkable;
};

/// No memory or no mapping left for a coroutine's stack.
class StackExhausted : public Linkable<StackExhausted> {
 public:
  using Linkable::Linkable;
};

/// An I/O operation failed; `code()` is a positive errno value, 0 when none applies.
class InputOutputError : public Linkable<InputOutputError> {
 public:
  explicit InputOutputError(const std::string& what) : Linkable(what) {}
  InputOutputError(std::string_view operation, int code);
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_ = 0;
};

/// A part of a file was not sent whole: "send file /x after 5 bytes: Input/output error".
class SendFileError : public Linkable<SendFileError, InputOutputError> {
 public:
  SendFileError(std::string_view path, std::uint64_t sent, int code);
  /// Bytes that went before.
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }

 private:
  std::uint64_t sent_;
};

/// A watched descriptor cannot be watched (any more).
class PollError : public Linkable<PollError, InputOutputError> {
 public:
  using Linkable::Linkable;
};

/// A pool cannot give a resource: it is closed, or its factory made nothing.
class PoolError : public Linkable<PoolError> {
 public:
  using Linkable::Linkable;
};

/// The circuit breaker of a pool is open.
class ServiceUnavailable : public Linkable<ServiceUnavailable, PoolError> {
 public:
  using Linkable::Linkable;
};

/// The error that ended another thread, as the name of its type and its text. The original is kept,
/// but objects that it refers to may be gone with its thread.
class RemoteError : public Linkable<RemoteError> {
 public:
  explicit RemoteError(std::exception_ptr original);
  /// "std::runtime_error".
  [[nodiscard]] const std::string& type_name() const noexcept { return type_name_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::exception_ptr& original() const noexcept { return original_; }

 private:
  std::string type_name_;
  std::string text_;
  std::exception_ptr original_;
};

/// A thread has ended in a way that cannot be handed to another one.
class ThreadTransferError : public Linkable<ThreadTransferError> {
 public:
  using Linkable::Linkable;
};

/// A channel between threads takes nothing more, or has nothing more to give.
class ThreadChannelError : public Linkable<ThreadChannelError> {
 public:
  using Linkable::Linkable;
};

/// A pool of threads does not take a task, or cannot run it.
class ThreadPoolError : public Linkable<ThreadPoolError> {
 public:
  using Linkable::Linkable;
};

/// Several failures of one operation, in the order in which they happened.
class CompositeError : public Linkable<CompositeError> {
 public:
  explicit CompositeError(std::vector<std::exception_ptr> errors);
  [[nodiscard]] const std::vector<std::exception_ptr>& errors() const noexcept { return errors_; }

 private:
  std::vector<std::exception_ptr> errors_;
};

/// The request to stop, delivered at a suspension point. Catch it to clean up, then rethrow. The
/// kinds below say that something else has been stopped; the caller itself has not.
class Cancellation : public backend::Chained {
 public:
  explicit Cancellation(std::string what = "Coroutine cancelled") : what_(std::move(what)) {}
  virtual ~Cancellation() = default;
  Cancellation(const Cancellation&) = default;
  Cancellation& operator=(const Cancellation&) = default;
  [[nodiscard]] const char* what() const noexcept { return what_.c_str(); }
  [[nodiscard]] std::exception_ptr with_previous(std::exception_ptr previous) const override {
    return detail::copy_with_previous<Cancellation>(*this, std::move(previous));
  }

 private:
  std::string what_;
};

/// One wait was abandoned because its token fired; the coroutine itself is not cancelled.
class OperationCancelled : public Linkable<OperationCancelled, Cancellation> {
 public:
  explicit OperationCancelled(std::string what = "Operation has been cancelled")
      : Linkable(std::move(what)) {}
};

/// What the caller waits for was cancelled: a coroutine, a future, a thread. `previous()` holds the
/// cancellation that it got. The caller itself is not cancelled.
class AwaitedCancelled : public Linkable<AwaitedCancelled, Cancellation> {
 public:
  explicit AwaitedCancelled(std::string what) : Linkable(std::move(what)) {}
};

/// Unwinds a coroutine that must not run any further. Never catch it without rethrowing.
struct ForcedUnwind {};

/// True when `error` holds a Cancellation of any kind.
[[nodiscard]] bool is_cancellation(const std::exception_ptr& error) noexcept;

/// True when something other than a Cancellation is in the chain of `error`.
[[nodiscard]] bool carries_error(const std::exception_ptr& error);

/// True when `error` holds a ForcedUnwind.
[[nodiscard]] bool is_forced_unwind(const std::exception_ptr& error) noexcept;

/// "type: text" of the error and of its whole previous chain, newest first.
[[nodiscard]] std::string describe(const std::exception_ptr& error);

/// The text of the error alone, as `what()` gives it.
[[nodiscard]] std::string message_of(const std::exception_ptr& error);

/// The name of its type, as "std::runtime_error".
[[nodiscard]] std::string type_name_of(const std::exception_ptr& error);

/// The errors of the chain that starts at `error`, newest first.
[[nodiscard]] std::vector<std::exception_ptr> chain_of(const std::exception_ptr& error);

/// `newer` with `older` at the end of its previous chain, made of copies; `newer` itself when
/// `older` is in the chain already. One that cannot be copied (not one of ours, or not Linkable)
/// stays as it is: cancellations that it displaces are forgotten; an error is kept beside it in a
/// CompositeError, before which a Cancellation with its text stands when it is a cancellation.
[[nodiscard]] std::exception_ptr link_previous(std::exception_ptr newer, std::exception_ptr older);

}  // namespace fermata
