// SPDX-License-Identifier: Apache-2.0
#pragma once

// Completing a future from another thread.

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "fermata/io/remote_link.hpp"
#include "fermata/io/trigger.hpp"

namespace fermata {

/// The writing side of a future, for another thread: made of a Promise on its runtime's thread,
/// then moved to where the work is done. Every member may be called there, by one thread at a time.
/// The future's runtime stays awake for it.
///
/// Cancelled   When the future is cancelled, or its last handle goes after it was awaited or mapped
///             and was not ignored, the work is not wanted any more: cancel_requested, and the
///             trigger that was bound. A future that nobody ever looked at lets the work run on.
/// Dropped     Without a value or an error the promise is broken, as with a Promise.
template <class T = void>
class RemotePromise {
 public:
  /// Takes the future over: `promise` and its copies cannot complete it any more. UsageError when
  /// it is completed, or has been taken over already.
  explicit RemotePromise(Promise<T> promise) : link_(std::make_shared<Link>()) {
    auto& core = detail::RemoteReaderOf<T>::core_of(promise);
    core.require_transferable();
    core.give_away(std::make_unique<detail::RemoteReaderOf<T>>(core, link_));
  }
  RemotePromise(RemotePromise&&) noexcept = default;
  RemotePromise& operator=(RemotePromise&& other) noexcept {
    std::swap(link_, other.link_);
    return *this;
  }
  ~RemotePromise() {
    if (link_) link_->abandon();
  }

  /// UsageError when it is completed already. Nothing happens when nobody can read it any more.
  void complete(detail::ValueOrNothing<T> value) requires(!std::is_void_v<T>) {
    require(link().complete(std::move(value)));
  }
  void complete() requires(std::is_void_v<T>) { require(link().complete({})); }
  void fail(std::exception_ptr error) { require(link().fail(std::move(error))); }

  /// False, and nothing happens, when it is completed already.
  bool try_complete(detail::ValueOrNothing<T> value) requires(!std::is_void_v<T>) {
    return link().complete(std::move(value));
  }
  bool try_complete() requires(std::is_void_v<T>) { return link().complete({}); }
  bool try_fail(std::exception_ptr error) { return link().fail(std::move(error)); }

  [[nodiscard]] bool is_completed() const { return link().is_ended(); }

  [[nodiscard]] bool is_cancellation_requested() const {
    return link().is_cancellation_requested();
  }
  /// `trigger`, of the runtime that does the work, is fired when the work is not wanted any more.
  /// It must live until it is unbound, or this ends. False when the work is not wanted already:
  /// it must not begin (FUT-16).
  [[nodiscard]] bool bind_cancel(Trigger& trigger) { return bind_cancel(trigger.handle()); }
  [[nodiscard]] bool bind_cancel(backend::TriggerHandle& trigger) {
    return link().bind_cancel(&trigger);
  }
  void unbind_cancel() { link().bind_cancel(nullptr); }

  /// From now on reports of deadlocks name the current coroutine as the one who works on it.
  void taken_up() { link().taken_up(); }
  /// Until then, whoever `queue` names.
  void queued_at(std::shared_ptr<const backend::WaitSubject> queue) {
    link().queued_at(std::move(queue));
  }

 private:
  using Link = detail::RemoteLinkOf<T>;

  [[nodiscard]] Link& link() const {
    FERMATA_REQUIRE(link_ != nullptr, "RemotePromise: expected one that has not been moved from");
    return *link_;
  }
  static void require(bool first) { FERMATA_REQUIRE(first, "the future is already completed"); }

  std::shared_ptr<Link> link_;
};

}  // namespace fermata
