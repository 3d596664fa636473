// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/decision_names.hpp"

#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

void DecisionNames::clear() {
  names_.clear();
  origins_.clear();
  children_.clear();
}

void DecisionNames::set(std::uint64_t key, std::string text) {
  FERMATA_ASSERT(wanted_);
  FERMATA_ASSERT(!text.empty());
  names_.insert_or_assign(key, std::move(text));
}

void DecisionNames::set_coroutine(std::uint64_t path, std::uint64_t parent, std::string_view name,
                                  std::uint32_t occurrence) {
  FERMATA_ASSERT(path != parent);
  std::string text(name.empty() ? "coroutine" : name);
  if (occurrence > 0) text += " #" + std::to_string(occurrence + 1);
  set(path, std::move(text));
  origins_.insert_or_assign(path, Origin{parent, children_[parent]++});
}

}  // namespace fermata::sim
