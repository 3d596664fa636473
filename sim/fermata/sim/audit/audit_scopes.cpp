// SPDX-License-Identifier: Apache-2.0

// The recount of the scopes: who is in which, and what each says of its subtree.

#include <fmt/format.h>

#include <vector>

#include "fermata/core/runtime.hpp"
#include "fermata/sim/audit/audit.hpp"

namespace fermata::sim::detail {

namespace {

/// What a look at the objects finds in one scope; `all` and `active` without its children.
struct Census {
  std::size_t all = 0;
  std::size_t active = 0;
  std::size_t busy_children = 0;
  std::size_t live_children = 0;
  const CoroutineBase* stranger = nullptr;  // Listed here, and says that it belongs elsewhere.
};

Census census_of(const ScopeBase& scope) {
  Census census;
  for (const CoroutineBase* each = scope.first_member(); each != nullptr;
       each = CoroutineBase::ScopeList::after(*each)) {
    ++census.all;
    if (!each->is_zombie()) ++census.active;
    if (each->is_closed() || &each->scope() != &scope) census.stranger = each;
  }
  for (const ScopeBase* each = scope.first_child(); each != nullptr; each = each->next_sibling()) {
    if (!each->is_idle()) ++census.busy_children;
    if (!each->is_empty()) ++census.live_children;
  }
  return census;
}

/// Parents before their children.
std::vector<const ScopeBase*> all_scopes(const fermata::detail::ScopeForest& forest) {
  std::vector<const ScopeBase*> scopes;
  if (forest.root() != nullptr) scopes.push_back(forest.root());
  for (const ScopeBase* each = forest.detached().first(); each != nullptr;
       each = each->next_sibling()) {
    scopes.push_back(each);
  }
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    for (const ScopeBase* each = scopes[i]->first_child(); each != nullptr;
         each = each->next_sibling()) {
      scopes.push_back(each);
    }
  }
  return scopes;
}

}  // namespace

void Audit::check_scopes() {
  std::size_t members = 0;
  for (const ScopeBase* scope : all_scopes(runtime_->scheduler().scopes())) {
    const Census census = census_of(*scope);
    members += census.all;
    if (census.stranger != nullptr) {
      complain("CORE-SP-01", fmt::format("{} is listed as a member of {}, where it does not belong",
                                         census.stranger->info(), scope->info()));
    }
    complain_about_scope(*scope, "members", scope->member_count(), census.all);
    complain_about_scope(*scope, "active members", scope->active_count(), census.active);
    complain_about_scope(*scope, "busy children", scope->busy_child_count(), census.busy_children);
    complain_about_scope(*scope, "live children", scope->live_child_count(), census.live_children);
    if (scope->is_idle() != (census.active + census.busy_children == 0)) {
      complain("CORE-SP-02", fmt::format("{} is {} with {} active members and {} busy children",
                                         scope->info(), scope->is_idle() ? "idle" : "busy",
                                         census.active, census.busy_children));
    }
    if (scope->is_closed() && census.all > 0) {
      complain("CORE-SP-11",
               fmt::format("{} is closed and has {} members", scope->info(), census.all));
    }
    if (const ScopeBase* parent = scope->parent(); parent != nullptr && parent->is_closed() &&
                                                   !scope->is_closed() &&
                                                   !scope->is_for_cleanup()) {
      complain("CORE-SP-11",
               fmt::format("{} is open in {}, which is closed", scope->info(), parent->info()));
    }
  }
  if (members != runtime_->registry().size()) {
    complain("CORE-SP-01", fmt::format("the scopes have {} members, registered are {} coroutines",
                                       members, runtime_->registry().size()));
  }
}

void Audit::complain_about_scope(const ScopeBase& scope, const char* what, std::size_t kept,
                                 std::size_t counted) {
  if (kept == counted) return;
  complain("CORE-SP-01",
           fmt::format("{} says {} {}, there are {}", scope.info(), kept, what, counted));
}

}  // namespace fermata::sim::detail
