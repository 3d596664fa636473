// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/inspect/function_class.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/posix/served/functions.hpp"
#include "fermata/posix/served/unserved_functions.hpp"
#include "fermata/sim/inspect/passed_functions.hpp"

namespace fermata::sim::detail {

namespace {

using Facts = std::map<std::string_view, FunctionFacts>;

/// What the table of served functions does not have: the heap and limits, which a sanitizer needs
/// first, the end of the process, and what the guard watches.
constexpr std::array<FunctionGroup, 6> kFurtherServed = {{
    {"end", "_Exit _exit exit"},
    {"environment", "getrlimit getrlimit64"},
    {"heap",
     "aligned_alloc calloc free malloc malloc_usable_size memalign posix_memalign pvalloc realloc "
     "valloc"},
    {"rand", "_ZNSt13random_device9_M_getvalEv arc4random getentropy getrandom"},
    {"thread", "pthread_create thrd_create"},
    {"time",
     "clock clock_gettime clock_nanosleep gettimeofday nanosleep sched_yield sleep time "
     "timespec_get usleep"},
}};
constexpr FunctionGroup kFurtherUnserved = {"process", "fork"};

struct Row {
  std::string_view name;
  FunctionFacts facts;
};

constexpr std::size_t kRowCount = 0
#define FERMATA_ROW(kind, name) +1
    FERMATA_FUNCTIONS(FERMATA_ROW) FERMATA_UNSERVED_FUNCTIONS(FERMATA_ROW);
#undef FERMATA_ROW

// Its size is written, since clang deduces none of so many.
constexpr std::array<Row, kRowCount> kTable = {{
#define FERMATA_ROW(kind, name) Row{#name, {FunctionClass::Served, #kind}},
    FERMATA_FUNCTIONS(FERMATA_ROW)
#undef FERMATA_ROW
#define FERMATA_ROW(kind, name) Row{#name, {FunctionClass::Unserved, #kind}},
        FERMATA_UNSERVED_FUNCTIONS(FERMATA_ROW)
#undef FERMATA_ROW
}};

/// The first one who adds a name decides.
void add(Facts& facts, FunctionClass function_class, const FunctionGroup& group) {
  std::string_view names = group.names;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    FERMATA_ASSERT(end > 0);
    facts.emplace(names.substr(0, end), FunctionFacts{function_class, group.kind});
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

Facts all_facts() {
  Facts facts;
  for (const Row& row : kTable) facts.emplace(row.name, row.facts);
  for (const FunctionGroup& group : kFurtherServed) add(facts, FunctionClass::Served, group);
  add(facts, FunctionClass::Unserved, kFurtherUnserved);
  for (const FunctionGroup& group : kPassedFunctions) add(facts, FunctionClass::Passed, group);
  return facts;
}

constexpr std::array kUnserved = {
#define FERMATA_ROW(kind, name) std::string_view(#name),
    FERMATA_UNSERVED_FUNCTIONS(FERMATA_ROW)
#undef FERMATA_ROW
};

/// Until this version an object was as large as a pointer.
constexpr std::string_view kOldCondition = "GLIBC_2.2.5";

}  // namespace

std::string_view name_of(FunctionClass function_class) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"served", "passed", "not served", "unknown"};
  return kNames[static_cast<std::size_t>(function_class)];
}

FunctionFacts facts_of(std::string_view function) {
  static const Facts facts = all_facts();
  const auto found = facts.find(function);
  return found == facts.end() ? FunctionFacts{} : found->second;
}

std::vector<std::string> parse_unserved(std::string_view text) {
  std::vector<std::string> functions;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, comma);
    if (std::find(kUnserved.begin(), kUnserved.end(), name) == kUnserved.end()) {
      throw UsageError(fmt::format("'{}' is {}; expected one that is not served: {}", name,
                                   name_of(facts_of(name).function_class),
                                   fmt::join(kUnserved, ", ")));
    }
    functions.emplace_back(name);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return functions;
}

bool has_old_layout(std::string_view function, std::string_view version) noexcept {
  return version == kOldCondition && function.starts_with("pthread_cond_");
}

}  // namespace fermata::sim::detail
