// SPDX-License-Identifier: Apache-2.0
#pragma once

// What may go from one thread to another.

#include <type_traits>

#include "fermata/core/coroutine.hpp"
#include "fermata/sync/future.hpp"

namespace fermata {

/// Whether a T makes sense on another thread. False for what belongs to one runtime; specialise it
/// for types of your own that do, or that hold such things.
template <class T>
inline constexpr bool is_transferable = std::is_object_v<T>&& std::is_move_constructible_v<T> &&
                                        !std::is_base_of_v<Event, std::remove_pointer_t<T>>;
template <>
inline constexpr bool is_transferable<void> = true;
template <class T>
inline constexpr bool is_transferable<Coroutine<T>> = false;
template <class T>
inline constexpr bool is_transferable<Future<T>> = false;
template <class T>
inline constexpr bool is_transferable<Promise<T>> = false;
template <class T>
inline constexpr bool is_transferable<Ref<T>> = false;

template <class T>
concept Transferable = is_transferable<T>;

}  // namespace fermata
