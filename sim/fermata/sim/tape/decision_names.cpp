// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/decision_names.hpp"

#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

void DecisionNames::clear() {
  names_.clear();
  origins_.clear();
  children_.clear();
  roots_.clear();
  namesakes_.clear();
}

void DecisionNames::set_sentence(std::uint64_t key, std::string sentence) {
  FERMATA_ASSERT(wanted_);
  names_.insert_or_assign(key, std::move(sentence));
}

// As a run log counts them, so that a decision and a step call one coroutine the same.
void DecisionNames::set_coroutine(std::uint64_t path, std::uint64_t parent, std::string_view name) {
  FERMATA_ASSERT(path != parent);
  std::string text(name.empty() ? "coroutine" : name);
  const auto root = roots_.find(parent);
  roots_.emplace(path, root != roots_.end() ? root->second : path);
  const std::uint64_t among = root != roots_.end() ? root->second : parent;
  const std::uint32_t number = ++namesakes_[{among, text}];
  if (number > 1) text += " #" + std::to_string(number);
  FERMATA_ASSERT(wanted_);
  names_.insert_or_assign(path, std::move(text));
  origins_.insert_or_assign(path, Origin{parent, children_[parent]++});
}

}  // namespace fermata::sim
