// SPDX-License-Identifier: Apache-2.0
#pragma once

// Named values of one coroutine (CORE-CX-04). Nothing is inherited, neither from the spawner nor
// from the scope.

#include <any>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace fermata {

class LocalContext {
 public:
  /// The value, or null when there is none.
  [[nodiscard]] const std::any* find(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }

  /// Throws Error naming the key when there is no value, std::bad_any_cast when it is no T.
  template <class T>
  [[nodiscard]] const T& get(std::string_view key) const {
    return std::any_cast<const T&>(require(key));
  }

  /// Throws Error, and changes nothing, when the key exists and `replace` is false (CORE-CX-03).
  LocalContext& set(std::string_view key, std::any value, bool replace = false);

  /// Idempotent.
  LocalContext& unset(std::string_view key);

 private:
  [[nodiscard]] const std::any& require(std::string_view key) const;

  std::map<std::string, std::any, std::less<>> values_;
};

/// Names an extension's slot in every coroutine of a runtime; from Runtime::allocate_slot().
struct SlotKey {
  std::size_t index = 0;
};

}  // namespace fermata
