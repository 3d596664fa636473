// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values that belong to a scope and are seen from everything inside of it.
//
// Looking      find, get and has begin at the scope and go up through its parents, past those that
//              have no values (CORE-CX-01); the _local forms stay. Nothing is cached.
// Writing      set and unset change the scope's own values only: an ancestor's are shadowed, and
//              seen again after the unset (CORE-CX-02, CX-03).
// Lifetime     A Context is a handle; copies mean the same values. They live until the scope is
//              gone, after its finally handlers (CORE-SP-16), and as long as a handle does; keys
//              live as long as their values (CORE-CX-06).

#include <any>
#include <memory>
#include <string_view>
#include <utility>

#include "fermata/core/local_context.hpp"

namespace fermata {

class ScopeBase;

namespace detail {

struct ScopeContext {
  backend::LocalContext values;
  ScopeBase* scope;  // Null once it is gone.
};

}  // namespace detail

class Context {
 public:
  /// Empty: what request_context() gives where there is no request.
  Context() noexcept = default;

  explicit operator bool() const noexcept { return node_ != nullptr; }
  friend bool operator==(const Context&, const Context&) noexcept = default;

  /// The value, or null when there is none; valid until it is unset, replaced or released.
  [[nodiscard]] const std::any* find(std::string_view key) const;
  template <class T>
  [[nodiscard]] const T* find(const ContextKey<T>& key) const {
    return key.value_in(find_any(key.identity()));
  }
  [[nodiscard]] const std::any* find_local(std::string_view key) const {
    return values().find(key);
  }
  template <class T>
  [[nodiscard]] const T* find_local(const ContextKey<T>& key) const {
    return values().find(key);
  }

  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  template <class T>
  [[nodiscard]] bool has(const ContextKey<T>& key) const {
    return find(key) != nullptr;
  }
  [[nodiscard]] bool has_local(std::string_view key) const { return values().has(key); }
  template <class T>
  [[nodiscard]] bool has_local(const ContextKey<T>& key) const {
    return values().has(key);
  }

  /// Throws ContextError naming the key when it has no value, std::bad_any_cast unless that is a T.
  template <class T>
  [[nodiscard]] const T& get(std::string_view key) const {
    return std::any_cast<const T&>(detail::require_value(find(key), key));
  }
  template <class T>
  [[nodiscard]] const T& get(const ContextKey<T>& key) const {
    return *std::any_cast<T>(&detail::require_value(find_any(key.identity()), key.name()));
  }
  template <class T>
  [[nodiscard]] const T& get_local(std::string_view key) const {
    return values().get<T>(key);
  }
  template <class T>
  [[nodiscard]] const T& get_local(const ContextKey<T>& key) const {
    return values().get(key);
  }

  /// Throws Error, and changes nothing, when the scope itself has a value and `replace` is false.
  const Context& set(std::string_view key, std::any value, bool replace = false) const {
    values().set(key, std::move(value), replace);
    return *this;
  }
  template <class T>
  const Context& set(const ContextKey<T>& key, std::type_identity_t<T> value,
                     bool replace = false) const {
    values().set(key, std::move(value), replace);
    return *this;
  }

  /// Idempotent.
  const Context& unset(std::string_view key) const {
    values().unset(key);
    return *this;
  }
  template <class T>
  const Context& unset(const ContextKey<T>& key) const {
    values().unset(key);
    return *this;
  }

 private:
  friend class ScopeBase;

  explicit Context(std::shared_ptr<detail::ScopeContext> node) noexcept : node_(std::move(node)) {}
  /// Throws UsageError on an empty handle.
  [[nodiscard]] backend::LocalContext& values() const;
  [[nodiscard]] const std::any* find_any(const detail::KeyIdentity& key) const;

  std::shared_ptr<detail::ScopeContext> node_;
};

/// The context of the current coroutine's scope; outside of any coroutine, that of the root scope.
[[nodiscard]] Context current_context();

/// The context of the runtime's root scope.
[[nodiscard]] Context root_context();

/// The context of the nearest request scope above the current scope; empty when there is none.
[[nodiscard]] Context request_context();

}  // namespace fermata
