// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <exception>
#include <type_traits>
#include <typeinfo>

#include "fermata/base/assert.hpp"

namespace fermata::detail {

/// The exception in `error` if `catch (const E&)` would take it, else null. It is not thrown for
/// that, which would cost a microsecond. Lives as long as `error`. C++26 has it as
/// std::exception_ptr_cast.
template <class E>
[[nodiscard]] const E* exception_ptr_cast(const std::exception_ptr& error) noexcept {
  static_assert(!std::is_pointer_v<E> && !std::is_member_pointer_v<E>);
  if (!error) return nullptr;
#ifdef __GLIBCXX__
  // A catch clause asks the same question, of the exception object that the pointer is made of.
  static_assert(sizeof(std::exception_ptr) == sizeof(void*));
  void* object = nullptr;
  std::memcpy(&object, &error, sizeof object);
  FERMATA_ASSERT(object != nullptr);
  constexpr unsigned kOuterCatch = 1;
  const std::type_info& thrown = *error.__cxa_exception_type();
  return typeid(E).__do_catch(&thrown, &object, kOuterCatch) ? static_cast<const E*>(object)
                                                             : nullptr;
#else
  try {
    std::rethrow_exception(error);
  } catch (const E& exception) {
    return &exception;
  } catch (...) {
    return nullptr;
  }
#endif
}

}  // namespace fermata::detail
