// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/foreign_place.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fermata/posix/kernel.hpp"
#include "fermata/sim/base/stack_text.hpp"
#include "fermata/sim/posix/kept_caller.hpp"

namespace fermata::sim::detail {

namespace {

/// "function at file:line", or the function alone where the program has no debug information.
SourcePlace place_from(const std::string& line) {
  static std::set<std::string> texts;
  constexpr std::string_view kAt = " at ";
  const std::size_t at = line.rfind(kAt);
  const std::size_t colon = line.rfind(':');
  if (at == std::string::npos || colon == std::string::npos || colon < at) {
    return {texts.insert(line).first->c_str(), "", 0};
  }
  const std::size_t begin = at + kAt.size();
  return {texts.insert(line.substr(begin, colon - begin)).first->c_str(), "",
          std::atol(line.c_str() + colon + 1)};
}

/// The first line of the program in a stack; without a file when there is none.
SourcePlace first_line(const std::vector<const void*>& stack) {
  static std::map<std::vector<const void*>, SourcePlace> known;
  const auto [found, is_new] = known.try_emplace(stack, SourcePlace{nullptr, "", 0});
  if (is_new) {
    const KeptCaller kept;
    const posix::Serving unserved(nullptr, nullptr);
    const std::vector<std::string> lines = stack_text(stack);
    if (!lines.empty()) found->second = place_from(lines.front());
  }
  return found->second;
}

}  // namespace

SourcePlace place_of(const void* caller) noexcept {
  Dl_info found = {};
  if (::dladdr(caller, &found) == 0 || found.dli_fname == nullptr) return {"foreign code", "?", 0};
  const char* const slash = std::strrchr(found.dli_fname, '/');
  return {slash != nullptr ? slash + 1 : found.dli_fname,
          found.dli_sname != nullptr ? found.dli_sname : "?", 0};
}

SourcePlace line_of(const void* caller) {
  const KeptCaller kept;  // A look at the stack makes calls itself.
  std::vector<const void*> stack = present_stack();
  stack.erase(stack.begin(), std::find(stack.begin(), stack.end(), caller));
  const SourcePlace line = first_line(stack);
  return line.file != nullptr ? line : place_of(caller);
}

}  // namespace fermata::sim::detail
