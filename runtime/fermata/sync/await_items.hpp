// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a combinator takes as items, and what it makes of them.
//
// Containers  A sized range: vector, array, span, map, initializer list. Its handles are
//             copied, so that it may change during the wait.
// Items       Anything awaitable; a plain event through a pointer, Ref or
//             reference_wrapper: it has no value (std::monostate), and needs only to
//             fire.
// Sources     Anything else that gives items one by one, see source.hpp. A coroutine of
//             its own reads it, and has ended when the wait returns.
// Keys        Of pairs, as in a map, the first; else the position.

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sync/awaitable.hpp"
#include "fermata/sync/joint_wait.hpp"
#include "fermata/sync/keyed.hpp"
#include "fermata/sync/source.hpp"

namespace fermata {

/// The value of an item; std::monostate for those that have none.
template <class A>
using ItemValue =
    std::conditional_t<std::is_void_v<AwaitedValue<A>>, std::monostate, AwaitedValue<A>>;

namespace detail {

/// A plain event as an awaitable.
class EventItem {
 public:
  EventItem(Event& event) : event_(Ref<Event>::share(event)) {}
  EventItem(Event* event) : event_(event == nullptr ? Ref<Event>() : Ref<Event>::share(*event)) {}
  template <class E>
  EventItem(const Ref<E>& event) : EventItem(static_cast<Event*>(event.get())) {}
  template <class E>
  EventItem(const std::reference_wrapper<E>& event) : EventItem(event.get()) {}

  explicit operator bool() const noexcept { return static_cast<bool>(event_); }
  [[nodiscard]] Event& event() const noexcept { return *event_; }
  void result() const noexcept {}

 private:
  Ref<Event> event_;
};

template <class X>
using AsAwaitable = std::conditional_t<Awaitable<X>, X, EventItem>;

template <class X>
concept Item = Awaitable<X> || std::is_constructible_v<EventItem, const X&>;

template <class X>
struct ItemTraits {
  using Key = std::size_t;
  using Handle = AsAwaitable<std::remove_const_t<X>>;
  static constexpr bool kKeyed = false;
};

template <class K, class X>
struct ItemTraits<std::pair<K, X>> {
  using Key = std::remove_const_t<K>;
  using Handle = AsAwaitable<X>;
  static constexpr bool kKeyed = true;
};

template <class Items>
using TraitsOf = ItemTraits<std::ranges::range_value_t<const Items>>;

template <class X>
inline constexpr bool kIsItem = Item<X>;
template <class K, class X>
inline constexpr bool kIsItem<std::pair<K, X>> = Item<X>;

template <class I>
concept Items = std::ranges::sized_range<const I> && kIsItem<std::ranges::range_value_t<const I>>;

/// The items of one wait, with their keys.
template <class Traits>
class Batch {
 public:
  using Key = typename Traits::Key;
  using Handle = typename Traits::Handle;
  using Value = ItemValue<Handle>;
  static constexpr bool kKeyed = Traits::kKeyed;

  Batch(const JointRule& rule, const AwaitOptions& options) : wait_(rule, options) {}

  [[nodiscard]] JointWait& wait() noexcept { return wait_; }

  template <class Items>
  void add_all(Items&& items) {
    const auto count = static_cast<std::size_t>(std::ranges::size(items));
    wait_.reserve(count);
    handles_.reserve(count);
    if constexpr (kKeyed) keys_.reserve(count);
    for (const auto& item : items) add(item);
    wait_.seal();
  }

  /// A copy of a handle, or the handle itself.
  template <class X>
  void add(X&& item) {
    if constexpr (kKeyed) {
      keys_.push_back(item.first);
      handles_.emplace_back(std::forward<X>(item).second);
    } else {
      handles_.emplace_back(std::forward<X>(item));
    }
    wait_.add(event_of(handles_.back()));
  }

  /// The values of the items that had succeeded when the wait was settled.
  [[nodiscard]] Keyed<Key, Value> values() const {
    Keyed<Key, Value> values;
    for_each_ended([&](const JointItem& item) {
      if (wait_.counts(item)) values.add(key_of(item), value_of(item));
    });
    return values;
  }

  /// The errors of the items that failed, without the cancellations that the wait itself caused.
  [[nodiscard]] Keyed<Key, std::exception_ptr> errors() const {
    Keyed<Key, std::exception_ptr> errors;
    for_each_ended([&](const JointItem& item) {
      if (wait_.reports(item)) errors.add(key_of(item), item.error());
    });
    return errors;
  }

  /// The value of the item that was the first to succeed; absent when none has.
  [[nodiscard]] std::optional<Value> first_value() const {
    for (const JointItem* item = wait_.first_ended(); item != nullptr; item = item->next_ended()) {
      if (wait_.counts(*item)) return value_of(*item);
    }
    return std::nullopt;
  }

  /// The values of all items, in their order. REQUIRES: all have succeeded.
  [[nodiscard]] auto all_values() const {
    if constexpr (std::is_void_v<AwaitedValue<Handle>>) {
      return;
    } else if constexpr (kKeyed) {
      Keyed<Key, Value> values;
      for_each([&](const JointItem& item) {
        FERMATA_ASSERT(item.state() == JointItem::State::Succeeded);
        values.add(key_of(item), value_of(item));
      });
      return values;
    } else {
      std::vector<Value> values;
      values.reserve(handles_.size());
      for_each([&](const JointItem& item) {
        FERMATA_ASSERT(item.state() == JointItem::State::Succeeded);
        values.push_back(value_of(item));
      });
      return values;
    }
  }

 private:
  template <class Visit>
  void for_each(Visit visit) const {
    for (const JointItem* item = wait_.first(); item != nullptr; item = item->next()) visit(*item);
  }

  template <class Visit>
  void for_each_ended(Visit visit) const {
    if (wait_.options().preserve_order) return for_each(visit);
    for (const JointItem* item = wait_.first_ended(); item != nullptr; item = item->next_ended()) {
      visit(*item);
    }
  }

  [[nodiscard]] Key key_of(const JointItem& item) const {
    if constexpr (kKeyed) {
      return keys_[item.index()];
    } else {
      return item.index();
    }
  }

  [[nodiscard]] Value value_of(const JointItem& item) const {
    const Handle& handle = handles_[item.index()];
    if constexpr (std::is_void_v<AwaitedValue<Handle>>) {
      return {};
    } else {
      return take_result_of(handle);
    }
  }

  JointWait wait_;
  std::vector<Key> keys_;
  std::vector<Handle> handles_;
};

template <class X>
concept LazyItems = !Items<std::remove_reference_t<X>> &&
                    (Source<std::remove_reference_t<X>> || std::ranges::input_range<X>);

template <class X>
concept ItemsOrSource = Items<std::remove_reference_t<X>> || LazyItems<X>;

/// Waits for `items` as `rule` says; gives what `finish` makes of the batch.
template <class X, class Finish>
auto wait_for_items(X&& items, const JointRule& rule, const AwaitOptions& options,
                    const SourcePlace& place, Finish finish) {
  if constexpr (LazyItems<X>) {
    auto source = source_of(std::forward<X>(items));
    Batch<ItemTraits<Pulled<decltype(source)>>> batch(rule, options);
    batch.wait().feed(
        [&batch, source = std::make_shared<decltype(source)>(std::move(source))] {
          auto item = pull(*source);
          if (item) batch.add(std::move(*item));
          return item.has_value();
        },
        place);
    batch.wait().run(place);
    return finish(std::as_const(batch));
  } else {
    Batch<TraitsOf<std::remove_reference_t<X>>> batch(rule, options);
    batch.add_all(std::as_const(items));
    batch.wait().run(place);
    return finish(std::as_const(batch));
  }
}

/// The number of items that any_of needs: zero or less means all.
constexpr std::size_t needed_or_all(std::ptrdiff_t needed) noexcept {
  return needed > 0 ? static_cast<std::size_t>(needed) : JointRule::kAll;
}

}  // namespace detail
}  // namespace fermata
