// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/context.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scope.hpp"

namespace fermata {

namespace {

/// The value of the nearest scope that has the key, beginning with `node`.
template <class Key>
const std::any* find_upwards(const detail::ScopeContext& node, const Key& key) {
  if (const std::any* value = node.values.find(key)) return value;
  const ScopeBase* scope = node.scope != nullptr ? node.scope->parent() : nullptr;
  for (; scope != nullptr; scope = scope->parent()) {
    const auto& context = scope->context_if_any();
    if (context == nullptr) continue;
    if (const std::any* value = context->values.find(key)) return value;
  }
  return nullptr;
}

}  // namespace

backend::LocalContext& Context::values() const {
  FERMATA_REQUIRE(node_ != nullptr, "Context: expected the context of a scope, got an empty one");
  return node_->values;
}

const std::any* Context::find(std::string_view key) const {
  static_cast<void>(values());
  return find_upwards(*node_, key);
}

const std::any* Context::find_any(const detail::KeyIdentity& key) const {
  static_cast<void>(values());
  return find_upwards(*node_, key);
}

Context ScopeBase::context() {
  if (stage_ == Stage::Gone) refuse("context");
  if (context_ == nullptr) {
    context_ = std::make_shared<detail::ScopeContext>(detail::ScopeContext{{}, this});
  }
  FERMATA_ASSERT(context_->scope == this);
  return Context(context_);
}

Context current_context() { return current_scope().context(); }

Context root_context() { return current_runtime().root_scope().context(); }

Context request_context() {
  ScopeBase* request = current_scope().request_scope();
  return request != nullptr ? request->context() : Context();
}

}  // namespace fermata
