// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/local_context.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/error.hpp"

namespace fermata {

namespace {

template <class Values>
auto position_of(Values& values, const detail::KeyIdentity& key) noexcept {
  return std::find_if(values.begin(), values.end(),
                      [&](const auto& entry) { return entry.first.get() == &key; });
}

[[noreturn]] void throw_set_already(std::string_view key) {
  throw Error(fmt::format("context key '{}' has a value already: expected replace", key));
}

}  // namespace

void detail::throw_key_not_found(std::string_view key) {
  throw ContextError(fmt::format("context key '{}' not found", key));
}

const std::any* backend::LocalContext::find(std::string_view key) const {
  const auto found = named_.find(key);
  return found == named_.end() ? nullptr : &found->second;
}

const std::any* backend::LocalContext::find(const detail::KeyIdentity& key) const noexcept {
  const auto found = position_of(typed_, key);
  return found == typed_.end() ? nullptr : &found->second;
}

backend::LocalContext& backend::LocalContext::set(std::string_view key, std::any value,
                                                  bool replace) {
  const auto found = named_.find(key);
  if (found == named_.end()) {
    named_.emplace(key, std::move(value));
  } else if (replace) {
    found->second.swap(value);
  } else {
    throw_set_already(key);
  }
  return *this;
}

backend::LocalContext& backend::LocalContext::set(const Identity& key, std::any value,
                                                  bool replace) {
  const auto found = position_of(typed_, *key);
  if (found == typed_.end()) {
    typed_.emplace_back(key, std::move(value));
  } else if (replace) {
    found->second.swap(value);
  } else {
    throw_set_already(key->name);
  }
  return *this;
}

backend::LocalContext& backend::LocalContext::unset(std::string_view key) {
  const auto found = named_.find(key);
  if (found == named_.end()) return *this;
  const std::any last = std::move(found->second);
  named_.erase(found);
  return *this;
}

backend::LocalContext& backend::LocalContext::unset(const detail::KeyIdentity& key) {
  const auto found = position_of(typed_, key);
  if (found == typed_.end()) return *this;
  const std::any last = std::move(found->second);
  typed_.erase(found);
  return *this;
}

}  // namespace fermata
