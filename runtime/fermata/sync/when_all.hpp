// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting for several things at once.
//
//   call                 returns when                     gives
//   when_all             all have succeeded               values; throws the first error
//   when_any             one has ended                    its value, or throws its error
//   when_some            n have ended                     values; throws the first error
//   when_all_settled     all have ended                   values, errors
//   when_any_succeeds    one has succeeded, or all ended  its value, errors so far
//   when_some_succeed    n have succeeded, or all ended   values, errors
//
// Items       Containers and sources of awaitables or events, see await_items.hpp. An item given
//             under several keys counts, and gives its value, under each.
// Order       By completion; by the items' order with preserve_order. Items that have ended before
//             the call answer first, in their order, and when that is enough nothing suspends.
// Token       Looked at before the items. With it or the timeout the wait ends, the items do not.
// Errors      Those returned or thrown are caught by that. All others stay with their items.
// Exit        AwaitOptions::on_exit says what becomes of items that were not needed. An item that
//             fails while it is joined is among the errors of the calls that give errors; when it
//             was cancelled by the wait, its error counts as caught in any case.
// Throws      UsageError, before anything is waited for, on an item that is null, the current
//             coroutine, or closed without an outcome; Cancellation, OperationCancelled, Timeout.
// Source      CORE-AW-01 to 12.

#include <cstddef>
#include <exception>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

#include "fermata/sync/await_items.hpp"

namespace fermata {

template <class K, class V>
struct AllResults {
  Keyed<K, V> values;
  Keyed<K, std::exception_ptr> errors;
};
template <class K, class V>
AllResults(Keyed<K, V>, Keyed<K, std::exception_ptr>) -> AllResults<K, V>;

template <class K, class V>
struct FirstSuccess {
  std::optional<V> value;
  Keyed<K, std::exception_ptr> errors;
};
template <class K, class V>
FirstSuccess(std::optional<V>, Keyed<K, std::exception_ptr>) -> FirstSuccess<K, V>;

/// A value is moved out of an item only when it cannot be copied.
template <detail::ItemsOrSource I>
auto when_all_settled(I&& items, const AwaitOptions& options = {},
                      SourcePlace place = SourcePlace::current()) {
  const detail::JointRule rule{"when_all_settled", detail::JointRule::kAll, true};
  return detail::wait_for_items(std::forward<I>(items), rule, options, place,
                                [](const auto& batch) {
                                  return AllResults{batch.values(), batch.errors()};
                                });
}

/// The values in the order of the items: a vector; with keys for items with keys; nothing when the
/// items have no values.
template <detail::ItemsOrSource I>
auto when_all(I&& items, const AwaitOptions& options = {},
              SourcePlace place = SourcePlace::current()) {
  const detail::JointRule rule{"when_all", detail::JointRule::kAll, false};
  return detail::wait_for_items(std::forward<I>(items), rule, options, place,
                                [](const auto& batch) { return batch.all_values(); });
}

/// Absent when there are no items.
template <detail::ItemsOrSource I>
auto when_any(I&& items, const AwaitOptions& options = {},
              SourcePlace place = SourcePlace::current()) {
  const detail::JointRule rule{"when_any", 1, false};
  return detail::wait_for_items(std::forward<I>(items), rule, options, place,
                                [](const auto& batch) { return batch.first_value(); });
}

template <detail::ItemsOrSource I>
auto when_any_succeeds(I&& items, const AwaitOptions& options = {},
                       SourcePlace place = SourcePlace::current()) {
  const detail::JointRule rule{"when_any_succeeds", 1, true};
  return detail::wait_for_items(std::forward<I>(items), rule, options, place,
                                [](const auto& batch) {
                                  return FirstSuccess{batch.first_value(), batch.errors()};
                                });
}

/// Waits for all when `needed` is zero or less.
template <detail::ItemsOrSource I>
auto when_some_succeed(std::ptrdiff_t needed, I&& items, const AwaitOptions& options = {},
                       SourcePlace place = SourcePlace::current()) {
  const detail::JointRule rule{"when_some_succeed", detail::needed_or_all(needed), true};
  return detail::wait_for_items(std::forward<I>(items), rule, options, place,
                                [](const auto& batch) {
                                  return AllResults{batch.values(), batch.errors()};
                                });
}

template <detail::ItemsOrSource I>
auto when_some(std::size_t needed, I&& items, const AwaitOptions& options = {},
               SourcePlace place = SourcePlace::current()) {
  const detail::JointRule rule{"when_some", needed, false};
  return detail::wait_for_items(std::forward<I>(items), rule, options, place,
                                [](const auto& batch) { return batch.values(); });
}

// The same for items in braces.

template <detail::Item X>
auto when_all_settled(std::initializer_list<X> items, const AwaitOptions& options = {},
                      SourcePlace place = SourcePlace::current()) {
  return when_all_settled(std::span(items), options, place);
}

template <detail::Item X>
auto when_all(std::initializer_list<X> items, const AwaitOptions& options = {},
              SourcePlace place = SourcePlace::current()) {
  return when_all(std::span(items), options, place);
}

template <detail::Item X>
auto when_any(std::initializer_list<X> items, const AwaitOptions& options = {},
              SourcePlace place = SourcePlace::current()) {
  return when_any(std::span(items), options, place);
}

template <detail::Item X>
auto when_any_succeeds(std::initializer_list<X> items, const AwaitOptions& options = {},
                       SourcePlace place = SourcePlace::current()) {
  return when_any_succeeds(std::span(items), options, place);
}

template <detail::Item X>
auto when_some_succeed(std::ptrdiff_t needed, std::initializer_list<X> items,
                       const AwaitOptions& options = {},
                       SourcePlace place = SourcePlace::current()) {
  return when_some_succeed(needed, std::span(items), options, place);
}

template <detail::Item X>
auto when_some(std::size_t needed, std::initializer_list<X> items, const AwaitOptions& options = {},
               SourcePlace place = SourcePlace::current()) {
  return when_some(needed, std::span(items), options, place);
}

}  // namespace fermata
