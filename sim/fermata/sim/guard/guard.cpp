// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/guard/guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/stack_text.hpp"
#include "fermata/sim/guard/guarded_functions.hpp"

namespace fermata::sim {
namespace {

using Stack = std::vector<const void*>;

constinit thread_local detail::GuardedRun* guarded_run = nullptr;
constinit thread_local int allowances = 0;

detail::GuardOptions& guard_options() {
  static detail::GuardOptions options;
  return options;
}

std::string text_of(const Stack& stack) {
  FERMATA_ASSERT(!stack.empty());
  std::string text;
  for (const std::string& line : stack_text(stack)) text += "  " + line + '\n';
  return text.empty() ? "  a program without names; build it with -g\n" : text;
}

void warn(const char* function, const std::string& who, const Stack& stack) {
  FERMATA_ASSERT(guard_options().mode == detail::GuardMode::Warn);
  static std::set<std::pair<std::string, std::string>> warned;
  if (!warned.emplace(function, who).second) return;
  std::fprintf(stderr, "fermata: simulated code calls %s%s%s\n%s", function,
               who.empty() ? "" : " in coroutine ", who.c_str(), text_of(stack).c_str());
}

}  // namespace

std::vector<std::string> detail::GuardOptions::parse_allowed(std::string_view text) {
  std::vector<std::string> allowed;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, comma);
    const auto& known = detail::kGuardedFunctions;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UsageError(fmt::format("'{}' is not a guarded function; expected one of {}", name,
                                   fmt::join(known, ", ")));
    }
    allowed.emplace_back(name);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return allowed;
}

void detail::set_guard(GuardOptions options) { guard_options() = std::move(options); }

AllowNondeterminism::AllowNondeterminism() noexcept {
  FERMATA_ASSERT(allowances >= 0);
  ++allowances;
}
AllowNondeterminism::~AllowNondeterminism() {
  FERMATA_ASSERT(allowances > 0);
  --allowances;
}

namespace detail {

Guarded::Guarded(GuardedRun& run) noexcept : run_(run), outer_(std::exchange(guarded_run, &run)) {
  FERMATA_ASSERT(outer_ != &run_);  // No run is made inside itself.
  find_guarded_functions();
}

Guarded::~Guarded() {
  FERMATA_ASSERT(guarded_run == &run_);
  guarded_run = outer_;
}

bool is_guarded() noexcept { return guarded_run != nullptr && allowances == 0; }

// The guard does not judge what it calls itself.
bool report_guarded(const char* function) {
  FERMATA_ASSERT(is_guarded());
  const AllowNondeterminism unguarded;
  const GuardOptions& options = guard_options();
  const auto& allowed = options.allowed;
  if (options.mode == GuardMode::Off || guarded_run->is_over() ||
      std::find(allowed.begin(), allowed.end(), function) != allowed.end()) {
    return true;
  }
  FERMATA_ASSERT(std::count(kGuardedFunctions.begin(), kGuardedFunctions.end(), function) == 1);
  const Stack stack = present_stack();
  std::string who = guarded_run->current_coroutine();
  if (options.mode == GuardMode::Warn) {
    warn(function, who, stack);
    return true;
  }
  guarded_run->fail_guarded(function, std::move(who), text_of(stack));
  return false;
}

}  // namespace detail
}  // namespace fermata::sim
