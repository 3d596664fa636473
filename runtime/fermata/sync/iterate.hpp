// SPDX-License-Identifier: Apache-2.0
#pragma once

// Doing something with each element of a range or a source, several at a time.
//
//   iterate(urls, [](const Url& url) { fetch(url); }, {.concurrency = 8});
//   iterate(jobs, [](Job job) { return job.run(); });   // a channel; `false` stops
//
// Elements     Each is handed out once, in order. A container given by name is referred to; of one
//              with random access the elements that it has at the call and still has are visited,
//              any other must not change. A source (see source.hpp) may suspend.
// Callback     Takes the element, or the element and its key: the first of a pair, else the
//              position. `false` ends the iteration: what runs is completed, nothing starts.
// Coroutines   Callbacks run in coroutines of a child scope, which is empty when this returns, on
//              every path. Those that never suspend all run in one, one after the other.
// Errors       The first error of a callback or of the source is thrown here, the later ones linked
//              behind it; the others are cancelled. It wins over cancellations.
// Cancellation The caller's is thrown here, once everybody has ended; nothing new starts. So it is
//              with `limits`.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

#include "fermata/sync/iteration.hpp"
#include "fermata/sync/source.hpp"
#include "fermata/sync/within.hpp"

namespace fermata {

namespace detail {

/// Positions in a range: `next` gives one, `at` what is there.
template <class R>
class RangeCursor {
 public:
  explicit RangeCursor(R&& range)
      : range_(std::forward<R>(range)), next_(std::ranges::begin(range_)) {}

  auto next() { return more() ? std::optional(next_++) : std::nullopt; }
  [[nodiscard]] bool more() const { return next_ != std::ranges::end(range_); }
  decltype(auto) at(const std::ranges::iterator_t<R>& position) const { return *position; }

 private:
  R range_;
  std::ranges::iterator_t<R> next_;
};

template <class R>
requires(std::ranges::random_access_range<R>&& std::ranges::sized_range<R>) class RangeCursor<R> {
 public:
  explicit RangeCursor(R&& range)
      : range_(std::forward<R>(range)), end_(std::ranges::ssize(range_)) {}

  auto next() { return more() ? std::optional(next_++) : std::nullopt; }
  [[nodiscard]] bool more() const { return next_ < std::min(end_, std::ranges::ssize(range_)); }
  decltype(auto) at(std::ranges::range_difference_t<R> position) {
    return std::ranges::begin(range_)[position];
  }

 private:
  R range_;
  std::ranges::range_difference_t<R> end_;
  std::ranges::range_difference_t<R> next_ = 0;
};

/// Values out of a source; whether there are more is not known before they have come.
template <class S>
class SourceCursor {
 public:
  explicit SourceCursor(S&& source) : source_(std::move(source)) {}

  auto next() { return pull(source_); }
  [[nodiscard]] bool more() const { return true; }
  template <class V>
  V&& at(V& value) const {
    return std::move(value);
  }

 private:
  S source_;
};

template <class X>
auto cursor_of(X&& input) {
  if constexpr (!Source<std::remove_reference_t<X>> && std::ranges::forward_range<X>) {
    return RangeCursor<X>(std::forward<X>(input));
  } else {
    return SourceCursor(source_of(std::forward<X>(input)));
  }
}

/// A callback that takes the two halves of a pair: the second, then the first.
template <class F, class V>
concept TakesValueAndKey = requires(F& callback, V&& value) {
  callback(std::forward<V>(value).second, value.first);
};

/// Whether the callback wants more.
template <class F, class... Arguments>
bool wants_more(F& callback, Arguments&&... arguments) {
  if constexpr (std::is_same_v<std::invoke_result_t<F&, Arguments...>, bool>) {
    return callback(std::forward<Arguments>(arguments)...);
  } else {
    callback(std::forward<Arguments>(arguments)...);
    return true;
  }
}

template <class F, class V>
bool call_with_key(F& callback, V&& value, std::size_t index) {
  if constexpr (TakesValueAndKey<F, V>) {
    return wants_more(callback, std::forward<V>(value).second, value.first);
  } else if constexpr (std::is_invocable_v<F&, V, std::size_t>) {
    return wants_more(callback, std::forward<V>(value), index);
  } else {
    static_assert(std::is_invocable_v<F&, V>,
                  "iterate: the callback must take the element, or the element and its key");
    return wants_more(callback, std::forward<V>(value));
  }
}

template <class Cursor, class F>
class IterationOver final : public Iteration {
 public:
  template <class X>
  IterationOver(X&& elements, F&& callback, const IterateOptions& options, const SourcePlace& place)
      : Iteration(options, place),
        cursor_(cursor_of(std::forward<X>(elements))),
        callback_(std::move(callback)) {}

  [[nodiscard]] bool may_have_more() const override { return cursor_.more(); }

 private:
  bool step() override {
    auto position = exclusively([this] { return cursor_.next(); });
    if (!position) return false;
    expect_another();
    return call_with_key(callback_, cursor_.at(*position), index_++);
  }

  Cursor cursor_;
  F callback_;
  std::size_t index_ = 0;
};

}  // namespace detail

/// Suspends until all is done; returns at once when there is nothing. Throws what callbacks or the
/// source throw, and Cancellation; UsageError on a negative concurrency.
template <class X, class F>
void iterate(X&& elements, F callback, const IterateOptions& options = {},
             const SourcePlace& place = SourcePlace::current()) {
  using Cursor = decltype(detail::cursor_of(std::forward<X>(elements)));
  auto* const iteration = new detail::IterationOver<Cursor, F>(std::forward<X>(elements),
                                                               std::move(callback), options, place);
  struct Release {
    detail::Iteration& iteration;
    ~Release() { iteration.release(); }
  } release{*iteration};
  within(options.limits, [iteration] {
    if (iteration->may_have_more()) iteration->run_to_end();
  });
}

}  // namespace fermata
