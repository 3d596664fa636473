// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values of one owner by key: those of a coroutine, which inherits nothing, neither from its
// spawner nor from its scope (CORE-CX-04), and those of each scope (context.hpp). The end of a
// value that is replaced or unset may use them: it is not among them any more.

#include <any>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fermata/base/name.hpp"

namespace fermata {

class Context;

namespace backend {
class LocalContext;
}  // namespace backend

namespace detail {

/// A typed key: the object is the identity, and lives as long as a key or a value refers to it.
struct KeyIdentity {
  std::string name;
};

[[noreturn]] void throw_key_not_found(std::string_view key);

inline const std::any& require_value(const std::any* value, std::string_view key) {
  if (value == nullptr) throw_key_not_found(key);
  return *value;
}

}  // namespace detail

/// A key for values of type T. Copies are the same key; two keys made apart are different ones,
/// whatever their names, which are for messages only.
template <class T>
class ContextKey {
 public:
  explicit ContextKey(Name name)
      : identity_(std::make_shared<const detail::KeyIdentity>(
            detail::KeyIdentity{std::string(name.view())})) {}
  [[nodiscard]] std::string_view name() const noexcept { return identity_->name; }

 private:
  friend class Context;
  friend class backend::LocalContext;

  [[nodiscard]] const detail::KeyIdentity& identity() const noexcept { return *identity_; }
  [[nodiscard]] static const T* value_in(const std::any* value) noexcept {
    return std::any_cast<T>(value);
  }

  std::shared_ptr<const detail::KeyIdentity> identity_;
};

namespace backend {

class LocalContext {
 public:
  /// The value, or null when there is none.
  [[nodiscard]] const std::any* find(std::string_view key) const;
  template <class T>
  [[nodiscard]] const T* find(const ContextKey<T>& key) const {
    return key.value_in(find(key.identity()));
  }
  [[nodiscard]] const std::any* find(const detail::KeyIdentity& key) const noexcept;

  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  template <class T>
  [[nodiscard]] bool has(const ContextKey<T>& key) const {
    return find(key) != nullptr;
  }

  /// Throws ContextError naming the key when it has no value, std::bad_any_cast unless that is a T.
  template <class T>
  [[nodiscard]] const T& get(std::string_view key) const {
    return std::any_cast<const T&>(detail::require_value(find(key), key));
  }
  template <class T>
  [[nodiscard]] const T& get(const ContextKey<T>& key) const {
    return *std::any_cast<T>(&detail::require_value(find(key.identity()), key.name()));
  }

  /// Throws Error, and changes nothing, when the key exists and `replace` is false (CORE-CX-03).
  LocalContext& set(std::string_view key, std::any value, bool replace = false);
  template <class T>
  LocalContext& set(const ContextKey<T>& key, std::type_identity_t<T> value, bool replace = false) {
    return set(key.identity_, std::any(std::move(value)), replace);
  }

  /// Idempotent.
  LocalContext& unset(std::string_view key);
  template <class T>
  LocalContext& unset(const ContextKey<T>& key) {
    return unset(key.identity());
  }

 private:
  using Identity = std::shared_ptr<const detail::KeyIdentity>;

  LocalContext& set(const Identity& key, std::any value, bool replace);
  LocalContext& unset(const detail::KeyIdentity& key);

  std::map<std::string, std::any, std::less<>> named_;
  std::vector<std::pair<Identity, std::any>> typed_;  // As they were set: never by address.
};

/// Names an extension's slot in every coroutine of a runtime; from Runtime::allocate_slot().
struct SlotKey {
  std::size_t index = 0;
};

}  // namespace backend

}  // namespace fermata
