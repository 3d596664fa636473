// SPDX-License-Identifier: Apache-2.0
#pragma once

// The branches of a select that need nothing but the runtime's own events; see select.hpp.

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "fermata/sync/awaitable.hpp"
#include "fermata/sync/channel.hpp"
#include "fermata/sync/channel_place.hpp"
#include "fermata/sync/select_wait.hpp"

namespace fermata {

namespace detail {

/// What all branches are: plain descriptions, which refer to what the call of select was given.
class SelectBranchBase {
 public:
  explicit constexpr SelectBranchBase(const SourcePlace& place) noexcept : place_(place) {}
  /// Where it stands in the program.
  [[nodiscard]] const SourcePlace& place() const noexcept { return place_; }

 private:
  SourcePlace place_;
};

/// is_due() says whether run_now() can take it and call its handler without a wait. While the
/// select is parked the branch stands in line, at a Place; take_from() takes what has come there,
/// and run() calls the handler with it.
template <class B>
concept SelectBranch = std::derived_from<B, SelectBranchBase> && std::is_trivially_copyable_v<B> &&
    requires(const B& branch, SelectWait& wait, typename B::Place& there) {
  { branch.is_due() } -> std::same_as<bool>;
  branch.run_now();
  { branch.stand(wait) } -> std::same_as<typename B::Place>;
  branch.run(branch.take_from(there));
};

/// What a branch takes that takes nothing.
struct NothingTaken {};

template <class T, class Handler>
class ReceiveBranch final : public SelectBranchBase {
 public:
  using Place = ReceiverPlace;

  ReceiveBranch(ChannelOf<T>& channel, Handler& handler, const SourcePlace& place) noexcept
      : SelectBranchBase(place), channel_(&channel), handler_(&handler) {}

  [[nodiscard]] bool is_due() const noexcept { return channel_->can_receive_or_fail(); }
  decltype(auto) run_now() const {
    if (!channel_->has_value_now()) [[unlikely]] {
      return run(channel_->next({}, this->place()));
    }
    return run(channel_->take_now());
  }
  [[nodiscard]] Place stand(SelectWait& wait) const { return Place(wait, *channel_); }
  [[nodiscard]] std::optional<T> take_from(Place& there) const {
    there.claim();
    return channel_->next({}, this->place());
  }
  decltype(auto) run(std::optional<T>&& value) const {
    return std::invoke(*handler_, std::move(value));
  }

 private:
  ChannelOf<T>* channel_;
  Handler* handler_;
};

template <class T, class Handler>
class SendBranch final : public SelectBranchBase {
 public:
  using Place = SenderPlace;

  SendBranch(ChannelOf<T>& channel, T& value, Handler& handler, const SourcePlace& place) noexcept
      : SelectBranchBase(place), channel_(&channel), value_(&value), handler_(&handler) {}

  [[nodiscard]] bool is_due() const noexcept { return channel_->can_send_or_fail(); }
  decltype(auto) run_now() const {
    send();
    return run({});
  }
  [[nodiscard]] Place stand(SelectWait& wait) const {
    return Place(wait, *channel_, value_, &ChannelOf<T>::store_from);
  }
  NothingTaken take_from(Place& there) const {
    if (there.is_taken()) return {};
    there.claim();
    send();
    return {};
  }
  decltype(auto) run(NothingTaken) const { return std::invoke(*handler_); }

 private:
  void send() const { channel_->send(std::move(*value_), {}, this->place()); }

  ChannelOf<T>* channel_;
  T* value_;
  Handler* handler_;
};

template <class A, class Handler>
class EndBranch final : public SelectBranchBase {
  using Value = AwaitedValue<A>;

 public:
  using Place = SelectEvent;

  EndBranch(const A& awaitable, Handler& handler, const SourcePlace& place)
      : SelectBranchBase(place), awaitable_(&awaitable), handler_(&handler) {
    FERMATA_REQUIRE(event_of(awaitable) != nullptr,
                    "on_end: an empty handle: expected one that refers to something");
    event().mark_result_used();
  }

  [[nodiscard]] bool is_due() const {
    event().touched();
    return event().is_closed();
  }
  decltype(auto) run_now() const {
    take_kept_outcome(event());
    return run({});
  }
  [[nodiscard]] Place stand(SelectWait& wait) const { return Place(wait, event()); }
  NothingTaken take_from(Place& there) const {
    there.take_outcome();
    return {};
  }
  decltype(auto) run(NothingTaken) const {
    if constexpr (std::is_void_v<Value>) {
      return std::invoke(*handler_);
    } else if constexpr (std::is_copy_constructible_v<Value>) {
      return std::invoke(*handler_, Value(awaitable_->result()));
    } else {
      return std::invoke(*handler_, take_result_of(*awaitable_));
    }
  }

 private:
  [[nodiscard]] Event& event() const noexcept { return awaitable_->event(); }

  const A* awaitable_;
  Handler* handler_;
};

template <class Handler>
class EventBranch final : public SelectBranchBase {
 public:
  using Place = SelectEvent;

  EventBranch(Event& event, Handler& handler, const SourcePlace& place) noexcept
      : SelectBranchBase(place), event_(&event), handler_(&handler) {}

  [[nodiscard]] bool is_due() const {
    event_->touched();
    return event_->is_closed();
  }
  decltype(auto) run_now() const {
    take_kept_outcome(*event_);
    return run({});
  }
  [[nodiscard]] Place stand(SelectWait& wait) const { return Place(wait, *event_); }
  NothingTaken take_from(Place& there) const {
    there.take_outcome();
    return {};
  }
  decltype(auto) run(NothingTaken) const { return std::invoke(*handler_); }

 private:
  Event* event_;
  Handler* handler_;
};

template <class Handler>
class TimeoutBranch final : public SelectBranchBase {
 public:
  class Place {
   public:
    Place(SelectWait& wait, Duration span) : timer_(wait.runtime(), span), event_(wait, timer_) {}
    [[nodiscard]] bool is_due() const noexcept { return event_.is_due(); }

   private:
    Timer timer_;
    SelectEvent event_;
  };

  TimeoutBranch(Duration span, Handler& handler, const SourcePlace& place)
      : SelectBranchBase(place), span_(span), handler_(&handler) {
    if (span < Duration::zero()) [[unlikely]] {
      require_valid_span(span);
    }
  }

  [[nodiscard]] bool is_due() const noexcept { return span_ == Duration::zero(); }
  decltype(auto) run_now() const { return run({}); }
  [[nodiscard]] Place stand(SelectWait& wait) const { return Place(wait, span_); }
  NothingTaken take_from(Place& /*there*/) const noexcept { return {}; }
  decltype(auto) run(NothingTaken) const { return std::invoke(*handler_); }

 private:
  Duration span_;
  Handler* handler_;
};

}  // namespace detail

/// Receives. The handler gets a `std::optional<T>`, which is empty when close() was called and all
/// values have been received.
template <class T, class Handler>
[[nodiscard]] FERMATA_HOT auto on_receive(const Channel<T>& channel, Handler&& handler,
                                          const SourcePlace& place = SourcePlace::current()) {
  static_assert(std::is_invocable_v<Handler&, std::optional<T>>,
                "on_receive: expected a handler that takes a std::optional of the value");
  return detail::ReceiveBranch<T, std::remove_reference_t<Handler>>(detail::core_of(channel),
                                                                    handler, place);
}

/// Sends `value`, which is moved from exactly when the channel accepts it. Throws ChannelError,
/// when the branch is chosen, if the channel is closed.
template <class T, class Handler>
[[nodiscard]] FERMATA_HOT auto on_send(const Channel<T>& channel, std::type_identity_t<T>&& value,
                                       Handler&& handler,
                                       const SourcePlace& place = SourcePlace::current()) {
  static_assert(std::is_invocable_v<Handler&>, "on_send: expected a handler without parameters");
  return detail::SendBranch<T, std::remove_reference_t<Handler>>(detail::core_of(channel), value,
                                                                 handler, place);
}

/// Awaits a coroutine, a future or another awaitable. The handler gets its value, or nothing when
/// it has none; its error comes out of select. The value stays where it is, unless it cannot be
/// copied.
template <Awaitable A, class Handler>
[[nodiscard]] auto on_end(const A& awaitable, Handler&& handler,
                          const SourcePlace& place = SourcePlace::current()) {
  if constexpr (std::is_void_v<AwaitedValue<A>>) {
    static_assert(std::is_invocable_v<Handler&>, "on_end: expected a handler without parameters");
  } else {
    static_assert(std::is_invocable_v<Handler&, AwaitedValue<A>>,
                  "on_end: expected a handler that takes the value");
  }
  return detail::EndBranch<A, std::remove_reference_t<Handler>>(awaitable, handler, place);
}

/// Waits for an event to fire: a timer of the program's own, a signal, a trigger. What fires before
/// the select has begun to wait is not seen, unless the event keeps its outcome.
template <class Handler>
requires(std::is_invocable_v<Handler&>) [[nodiscard]] FERMATA_HOT
    auto on_event(Event& event, Handler&& handler,
                  const SourcePlace& place = SourcePlace::current()) {
  return detail::EventBranch<std::remove_reference_t<Handler>>(event, handler, place);
}

/// Ends the wait after `span`. Zero is due at once: listed last, it makes the select a try. Throws
/// UsageError when `span` is negative.
template <class Handler>
requires(std::is_invocable_v<Handler&>) [[nodiscard]] FERMATA_HOT
    auto on_timeout(Duration span, Handler&& handler,
                    const SourcePlace& place = SourcePlace::current()) {
  return detail::TimeoutBranch<std::remove_reference_t<Handler>>(span, handler, place);
}

}  // namespace fermata
