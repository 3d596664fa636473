// SPDX-License-Identifier: Apache-2.0
#pragma once

// A reference to something that can be called, for parameters: two words, and for each type that is
// referred to one function, where std::function makes twenty.
//
// Lifetime  What it refers to must outlive it; a temporary lives until the end of the call.

#include <type_traits>

namespace fermata::detail {

template <class Signature>
class FunctionRef;

template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_object_v<std::remove_reference_t<F>>)
  FunctionRef(F&& callable) noexcept  // NOLINT(google-explicit-constructor)
      : object_(const_cast<void*>(static_cast<const void*>(__builtin_addressof(callable)))),
        call_(&call<std::remove_reference_t<F>>) {}

  Result operator()(Arguments... arguments) const {
    return call_(object_, static_cast<Arguments&&>(arguments)...);
  }

 private:
  template <class F>
  static Result call(void* object, Arguments... arguments) {
    return static_cast<Result>((*static_cast<F*>(object))(static_cast<Arguments&&>(arguments)...));
  }

  void* object_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace fermata::detail
