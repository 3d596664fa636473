// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values that come one at a time, on demand, for as long as there are any.
//
// A source is called, or its next() is, and gives a std::optional: absent at the end, after which
// it is not asked again. It may suspend. A range that does not know its size is read as one.

#include <cstddef>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

namespace fermata {

namespace detail {

template <class X>
inline constexpr bool kIsOptional = false;
template <class X>
inline constexpr bool kIsOptional<std::optional<X>> = true;

template <class S>
concept HasNext = requires(S& source) {
  requires kIsOptional<std::remove_cvref_t<decltype(source.next())>>;
};

template <class S>
concept GivesOptional = requires(S& source) {
  requires kIsOptional<std::remove_cvref_t<decltype(source())>>;
};

}  // namespace detail

/// Has `std::optional<V> next()`, as a channel has, or is called for the same.
template <class S>
concept Source = detail::HasNext<S> || detail::GivesOptional<S>;

namespace detail {

template <Source S>
auto pull(S& source) {
  if constexpr (HasNext<S>) {
    return source.next();
  } else {
    return source();
  }
}

template <Source S>
using Pulled = typename decltype(pull(std::declval<S&>()))::value_type;

/// A range read as a source. Holds the range when it is given up to this, else refers to it.
template <class R>
class RangeSource {
 public:
  explicit RangeSource(R&& range) : range_(std::forward<R>(range)) {}

  std::optional<std::ranges::range_value_t<R>> next() {
    if (!at_) {
      at_.emplace(std::ranges::begin(range_));
    } else {
      ++*at_;
    }
    if (*at_ == std::ranges::end(range_)) return std::nullopt;
    return **at_;
  }

 private:
  R range_;  // A reference for an lvalue.
  std::optional<std::ranges::iterator_t<R>> at_;
};

/// An object that pulls items out of `input`, which is a source or a range.
template <class X>
auto source_of(X&& input) {
  using S = std::remove_reference_t<X>;
  if constexpr (!Source<S>) {
    return RangeSource<X>(std::forward<X>(input));
  } else if constexpr (std::is_lvalue_reference_v<X>) {
    return [&input] { return pull(input); };
  } else {
    return [held = std::move(input)]() mutable { return pull(held); };
  }
}

}  // namespace detail
}  // namespace fermata
