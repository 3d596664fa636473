// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/property/sim_property.hpp"

#include <fmt/format.h>
#include <rapidcheck/detail/Configuration.h>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/key.hpp"

namespace fermata::sim::detail {
namespace {

constexpr std::uint64_t kLargestSize = 100;

}  // namespace

rc::detail::Reproduce reproduction_for(const Preparation& preparation, const std::string& test) {
  if (!preparation.rapidcheck.empty()) {
    const auto parsed = rc::detail::configFromString(std::string(preparation.rapidcheck)).reproduce;
    const auto found = parsed.find(test);
    if (found == parsed.end()) {
      throw Error(fmt::format("the tape's RapidCheck string is not of {}", test));
    }
    return found->second;
  }
  rc::detail::Reproduce reproduction;
  reproduction.random = rc::Random(key_of(preparation.seed, "rapidcheck"));
  reproduction.size =
      static_cast<int>(key_of(preparation.seed, "size of arguments") % (kLargestSize + 1));
  return reproduction;
}

std::string reproduction_text(const rc::detail::Reproduce& reproduction, const std::string& test) {
  rc::detail::Configuration configuration;
  configuration.reproduce.emplace(test, reproduction);
  return rc::detail::configToMinimalString(configuration);
}

}  // namespace fermata::sim::detail
