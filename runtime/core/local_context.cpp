// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/core/local_context.hpp"

#include <fmt/format.h>

#include "fermata/runtime/base/error.hpp"

namespace fermata {

const std::any* LocalContext::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

const std::any& LocalContext::require(std::string_view key) const {
  if (const std::any* value = find(key)) return *value;
  throw Error(fmt::format("context key '{}' not found", key));
}

LocalContext& LocalContext::set(std::string_view key, std::any value, bool replace) {
  const auto found = values_.find(key);
  if (found == values_.end()) {
    values_.emplace(key, std::move(value));
  } else if (replace) {
    found->second = std::move(value);
  } else {
    throw Error(fmt::format("context key '{}' has a value already: expected replace", key));
  }
  return *this;
}

LocalContext& LocalContext::unset(std::string_view key) {
  const auto found = values_.find(key);
  if (found != values_.end()) values_.erase(found);
  return *this;
}

}  // namespace fermata
