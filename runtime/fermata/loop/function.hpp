// SPDX-License-Identifier: Apache-2.0
#pragma once

// A callable that is moved, never copied, and kept in place when it is small.

#include <concepts>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace fermata::loop {

template <class Signature>
class Function;

namespace detail {

/// How `F` is called when there are more arguments than it takes: with the first ones it can have.
template <class F, class First, class... Rest>
decltype(auto) call_with_prefix(F& function, First first, Rest... rest) {
  if constexpr (std::is_invocable_v<F&, First, Rest...>) {
    return std::invoke(function, first, rest...);
  } else if constexpr (std::is_invocable_v<F&, First>) {
    return std::invoke(function, first);
  } else {
    return std::invoke(function);
  }
}
template <class F>
decltype(auto) call_with_prefix(F& function) {
  return std::invoke(function);
}

template <class F, class... Args>
inline constexpr bool kCallableWithPrefix =
    std::is_invocable_v<F&, Args...> || std::is_invocable_v<F&>;
template <class F, class First, class... Rest>
inline constexpr bool kCallableWithPrefix<F, First, Rest...> =
    std::is_invocable_v<F&, First, Rest...> || std::is_invocable_v<F&, First> ||
    std::is_invocable_v<F&>;

}  // namespace detail

/// Empty when default constructed, moved from or made of nullptr; calling it then is not allowed.
/// No allocation for callables of up to six words that move without throwing.
template <class R, class... Args>
class Function<R(Args...)> {
 public:
  Function() noexcept = default;
  Function(std::nullptr_t) noexcept {}
  template <class F>
  requires(!std::same_as<std::decay_t<F>, Function> &&
           detail::kCallableWithPrefix<std::decay_t<F>, Args...>) Function(F&& function) {
    using Held = std::decay_t<F>;
    if constexpr (kInPlace<Held>) {
      ::new (static_cast<void*>(storage_)) Held(std::forward<F>(function));
      operations_ = &kInPlaceOperations<Held>;
    } else {
      ::new (static_cast<void*>(storage_)) Held*(new Held(std::forward<F>(function)));
      operations_ = &kHeapOperations<Held>;
    }
  }
  Function(Function&& from) noexcept { take(from); }
  Function& operator=(Function&& from) noexcept {
    if (this != &from) {
      reset();
      take(from);
    }
    return *this;
  }
  ~Function() { reset(); }

  explicit operator bool() const noexcept { return operations_ != nullptr; }
  R operator()(Args... args) { return operations_->call(storage_, args...); }
  void reset() noexcept {
    const Operations* const operations = std::exchange(operations_, nullptr);
    if (operations != nullptr && operations->destroy != nullptr) operations->destroy(storage_);
  }

 private:
  static constexpr std::size_t kBytes = 6 * sizeof(void*);

  struct Operations {
    R (*call)(void* storage, Args... args);
    void (*move)(void* to, void* from) noexcept;  // Ends `from` too; null: a copy of bytes.
    void (*destroy)(void* storage) noexcept;      // Null: there is nothing to do.
  };

  template <class F>
  static constexpr bool kInPlace =
      sizeof(F) <= kBytes &&
      alignof(F) <= alignof(void*) && std::is_nothrow_move_constructible_v<F>;

  template <class F>
  static void move_in_place(void* to, void* from) noexcept {
    ::new (to) F(std::move(*static_cast<F*>(from)));
    static_cast<F*>(from)->~F();
  }
  template <class F>
  static void destroy_in_place(void* storage) noexcept {
    static_cast<F*>(storage)->~F();
  }

  template <class F>
  static constexpr Operations kInPlaceOperations = {
      [](void* storage, Args... args) -> R {
        return detail::call_with_prefix(*static_cast<F*>(storage), args...);
      },
      std::is_trivially_copyable_v<F> ? nullptr : &move_in_place<F>,
      std::is_trivially_destructible_v<F> ? nullptr : &destroy_in_place<F>};

  template <class F>
  static constexpr Operations kHeapOperations = {
      [](void* storage, Args... args) -> R {
        return detail::call_with_prefix(**static_cast<F**>(storage), args...);
      },
      nullptr, [](void* storage) noexcept { delete *static_cast<F**>(storage); }};

  void take(Function& from) noexcept {
    operations_ = std::exchange(from.operations_, nullptr);
    if (operations_ == nullptr) return;
    if (operations_->move != nullptr) {
      operations_->move(storage_, from.storage_);
    } else {
      std::memcpy(storage_, from.storage_, kBytes);
    }
  }

  const Operations* operations_ = nullptr;
  alignas(void*) std::byte storage_[kBytes];
};

}  // namespace fermata::loop
