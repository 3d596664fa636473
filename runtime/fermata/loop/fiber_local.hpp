// SPDX-License-Identifier: Apache-2.0
#pragma once

// A value for each callback that runs, kept while the callback is suspended and gone when it has
// returned; likewise for each microtask, and for each coroutine beside them.

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace fermata::loop {

namespace detail {

/// A number that no other variable has.
[[nodiscard]] std::uint64_t new_variable() noexcept;
/// The current fiber's value of a variable, which may be null; throws UsageError outside of any
/// coroutine, and without a loop.
[[nodiscard]] std::shared_ptr<void>& fiber_value(std::uint64_t variable);
/// Forgets the value, if there is one.
void clear_fiber_value(std::uint64_t variable);

}  // namespace detail

template <class T>
class FiberLocal {
 public:
  /// `initialize` makes the value of a fiber that has none, on its first get().
  explicit FiberLocal(std::function<T()> initialize = [] { return T(); })
      : initialize_(std::move(initialize)) {}

  /// Throws what `initialize` throws; there is no value then, and the next get() tries again.
  [[nodiscard]] T& get() {
    if (const auto& known = detail::fiber_value(variable_)) return *static_cast<T*>(known.get());
    auto made = std::make_shared<T>(initialize_());
    std::shared_ptr<void>& value = detail::fiber_value(variable_);
    value = std::move(made);
    return *static_cast<T*>(value.get());
  }
  void set(T value) { detail::fiber_value(variable_) = std::make_shared<T>(std::move(value)); }
  /// The next get() initializes again.
  void unset() { detail::clear_fiber_value(variable_); }

 private:
  std::uint64_t variable_ = detail::new_variable();
  std::function<T()> initialize_;
};

}  // namespace fermata::loop
