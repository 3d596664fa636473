// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a Task can co_await besides awaitables and other Tasks: operations, which are functions that
// wait.
//
//   co_await fermata::after(1s);
//   std::optional<Job> job = co_await fermata::receive(jobs);
//   std::size_t read = co_await fermata::read_from(stream, buffer);
//   auto stream = co_await fermata::operation([&] { return listener.accept(); });
//
// Each only describes a call, refers to what it is given, and is made in the co_await itself. The
// call is made by the coroutine that runs the Task: the result, the errors, the cancellation and
// the cost are its own. So a plain `jobs.next()` in a Task does the same.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/lazy_body.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/channel.hpp"

namespace fermata {

namespace detail {

/// A function that co_await calls. F is a reference, or the type of a temporary.
template <class F>
class [[nodiscard]] Operation {
 public:
  explicit Operation(F&& function) : function_(std::forward<F>(function)) {}

  decltype(auto) operator()() { return std::invoke(function_); }

 private:
  F function_;
};

template <class X>
inline constexpr bool kIsOperation = false;
template <class F>
inline constexpr bool kIsOperation<Operation<F>> = true;

/// A pointer or a std::function may hold no function.
template <class F>
concept MaybeNoFunction = std::is_pointer_v<F> || requires(const F& function) {
  typename F::result_type;
  { function == nullptr } -> std::convertible_to<bool>;
};

/// Throws UsageError, with the value, when `span` is negative.
void require_after(Duration span);

}  // namespace detail

/// Describes a call of `function`, for co_await in a Task, which gives what it returns. The call
/// may suspend. A function with a name is referred to. Throws UsageError when `function` is empty.
template <class F>
[[nodiscard]] auto operation(F&& function) {
  using Function = std::remove_reference_t<F>;
  static_assert(std::is_invocable_v<Function&>,
                "operation: expected a function that can be called without arguments");
  static_assert(!detail::ReturnsLazy<Function>,
                "operation: the function returns a Task: expected co_await of that Task itself");
  static_assert(std::is_lvalue_reference_v<F> || std::is_trivially_destructible_v<Function>,
                "operation: the function owns something, which g++ 12 destroys twice when it is "
                "written inside of a co_await: expected captures by reference, or a function that "
                "has a name");
  if constexpr (detail::MaybeNoFunction<std::remove_cv_t<Function>>) {
    FERMATA_REQUIRE(function != nullptr, "operation: an empty function: expected one to call");
  }
  return detail::Operation<F>(std::forward<F>(function));
}

/// Describes `delay(span)`. Throws UsageError when `span` is negative.
[[nodiscard]] inline auto after(Duration span, SourcePlace place = SourcePlace::current()) {
  detail::require_after(span);
  return operation([span, place] { delay(span, place); });
}

/// Describes `channel.next(options)`: a `std::optional<T>`, which is empty when close() was called
/// and all values have been received. Throws UsageError when `channel` is an empty handle.
template <class T>
[[nodiscard]] auto receive(const Channel<T>& channel, const WaitOptions& options = {},
                           SourcePlace place = SourcePlace::current()) {
  FERMATA_REQUIRE(channel, "receive: an empty handle: expected a channel");
  return operation([&channel, options, place] { return channel.next(options, place); });
}

/// Describes `source.read(buffer, options)`, of a stream or a file: the number of bytes, 0 at the
/// end. The buffer must live until then.
template <class Source>
requires requires(Source& source, std::span<std::byte> buffer, const WaitOptions& options,
                  const SourcePlace& place) {
  { source.read(buffer, options, place) } -> std::same_as<std::size_t>;
}
[[nodiscard]] auto read_from(Source& source, std::span<std::byte> buffer,
                             const WaitOptions& options = {},
                             SourcePlace place = SourcePlace::current()) {
  return operation(
      [&source, buffer, options, place] { return source.read(buffer, options, place); });
}

}  // namespace fermata
