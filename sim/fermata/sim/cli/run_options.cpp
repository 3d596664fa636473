// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/run_options.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/random.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/cli/arguments.hpp"
#include "fermata/sim/run/environment.hpp"

namespace fermata::sim::cli {
namespace {

using std::chrono::milliseconds;

/// What the tool sets itself for each process.
constexpr std::string_view kOwn[] = {"FERMATA_SEED",     "FERMATA_RUNS", "FERMATA_KEEP_GOING",
                                     "FERMATA_STRATEGY", "FERMATA_OUT",  "FERMATA_FAULTS"};

std::uint64_t positive(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value == 0) {
    throw UsageError(fmt::format("'{}' is not a valid number; expected at least 1", text));
  }
  return value;
}

std::uint64_t seed(std::string_view text) {
  if (text != "random") return parse_seed(text);
  std::uint64_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != sizeof value) {
    throw UsageError("random: the system gives no random numbers");
  }
  return value;
}

/// "512M", "2G".
std::uint64_t bytes(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view unit = text.substr(digits);
  constexpr std::string_view kUnits[] = {"K", "M", "G"};
  const auto* found = std::find(std::begin(kUnits), std::end(kUnits), unit);
  if (digits == 0 || digits > 9 || found == std::end(kUnits)) {
    throw UsageError(
        fmt::format("'{}' is not a valid size; expected a number and K, M or G", text));
  }
  return positive(text.substr(0, digits)) << (10 * (found - std::begin(kUnits) + 1));
}

/// "0.5%" in parts per million.
std::uint64_t share(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, dot));
  std::string fraction(text.substr(std::min(dot + 1, text.size())));
  if (!text.ends_with('%')) digits = "?";
  std::string& last = dot == text.size() ? digits : fraction;
  if (last.ends_with('%')) last.pop_back();
  fraction.resize(std::max(fraction.size(), std::size_t{4}), '0');
  if (fraction.size() > 4 || digits.size() > 3) digits = "?";
  try {
    return positive(digits + fraction);
  } catch (const UsageError&) {
    throw UsageError(
        fmt::format("'{}' is not a valid share; expected one such as 1% or 0.05%", text));
  }
}

milliseconds time(std::string_view text) {
  return std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(parse_duration(text)));
}

unsigned processors() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

/// Reads settings one by one; an error names where the text is from.
class Settle {
 public:
  explicit Settle(const Arguments& arguments) : arguments_(arguments) {}

  template <class Target, class Read>
  void take(const char* name, Target& target, Read read) const {
    const auto found = arguments_.settings.find(name);
    if (found == arguments_.settings.end()) return;
    try {
      target = read(found->second.value);
    } catch (const Error& error) {
      throw UsageError(fmt::format("{}: {}", found->second.origin, error.what()));
    }
  }

  [[nodiscard]] bool has(const char* name) const { return arguments_.settings.count(name) > 0; }

 private:
  const Arguments& arguments_;
};

std::string path(const std::string& text) {
  if (text.empty()) throw UsageError("the path is empty");
  return text;
}

/// Checks `text` as a test process would read it; errors are found here, not in a thousand
/// processes.
std::string checked(const Variable& variable, const std::string& text) {
  Options scratch;
  variable.read(scratch, text);
  return text;
}

void take_what_tests_read(const Settle& settle, RunOptions& options) {
  for (const Variable& variable : variables()) {
    if (variable.reader != Reader::Test || variable.read == nullptr) continue;
    const std::string name(variable.name);
    const auto check = [&](const std::string& text) { return checked(variable, text); };
    if (variable.name == "FERMATA_STRATEGY") {
      settle.take(name.c_str(), options.strategy, check);
    } else if (variable.name == "FERMATA_FAULTS") {
      settle.take(name.c_str(), options.faults, check);
    } else if (std::find(std::begin(kOwn), std::end(kOwn), variable.name) == std::end(kOwn) &&
               settle.has(name.c_str())) {
      std::string text;
      settle.take(name.c_str(), text, check);
      options.handed_on.emplace_back(name, text);
    }
  }
  // Where tests leave which invariants they checked.
  if (const char* folder = std::getenv("FERMATA_CHECKS_OUT"); folder != nullptr) {
    options.handed_on.emplace_back("FERMATA_CHECKS_OUT", folder);
  }
}

/// What a scheduler has set, or, of ours, a flag.
Lookup lookup_for(const Arguments& arguments) {
  return [&arguments](const char* name) -> std::optional<std::string> {
    const auto given = arguments.settings.find(name);
    if (given != arguments.settings.end()) return given->second.value;
    const char* text = std::getenv(name);
    return text == nullptr ? std::nullopt : std::optional<std::string>(text);
  };
}

/// How many runs, when nobody says.
std::uint64_t usual_runs(const Settle& settle, const RunOptions& options) {
  if (options.time || options.until_stable_ppm != 0) return kNoEnd;
  return settle.has("FERMATA_SEED") ? 1 : Options::kDefaultRuns;
}

}  // namespace

Settings settings_of_tests(const RunOptions& options) {
  Settings settings = options.handed_on;
  settings.emplace_back("FERMATA_OUT", options.out);
  settings.emplace_back("FERMATA_FAULTS", options.faults);
  settings.emplace_back("FERMATA_STRATEGY", options.strategy);
  return settings;
}

RunOptions run_options(const Arguments& arguments) {
  const Settle settle(arguments);
  RunOptions options;
  options.strategy = Options().strategy;
  options.jobs = processors();
  const auto text = [](const std::string& value) { return value; };
  settle.take("FERMATA_FILTER", options.filter, text);
  settle.take("FERMATA_DISABLED", options.disabled, parse_switch);
  settle.take("FERMATA_SEED", options.seed, seed);
  settle.take("FERMATA_TIME", options.time,
              [](const std::string& value) { return std::optional(time(value)); });
  settle.take("FERMATA_UNTIL_STABLE", options.until_stable_ppm, share);
  options.runs = usual_runs(settle, options);
  settle.take("FERMATA_RUNS", options.runs, positive);
  settle.take("FERMATA_KEEP_GOING", options.keep_going, parse_switch);
  settle.take("FERMATA_JOBS", options.jobs, [](const std::string& value) {
    return static_cast<unsigned>(std::min<std::uint64_t>(positive(value), 1'024));
  });
  settle.take("FERMATA_WALL_LIMIT", options.wall_limit, time);
  settle.take("FERMATA_MEMORY_LIMIT", options.memory_limit, bytes);
  settle.take("FERMATA_CORPUS", options.corpus, path);
  settle.take("FERMATA_OUT", options.out, path);
  settle.take("FERMATA_RESUME", options.resume, parse_switch);
  settle.take("FERMATA_JUNIT", options.junit, path);
  settle.take("FERMATA_JSON", options.json, path);
  settle.take("FERMATA_VERBOSE", options.verbose, parse_switch);
  const bool of_fleet = arguments.verb.starts_with("fleet ");  // Its plan says who does what.
  if (!of_fleet) {
    std::string shard;
    settle.take("FERMATA_SHARD", shard, text);
    options.shard = find_shard(shard, lookup_for(arguments));
  }
  take_what_tests_read(settle, options);
  if (options.until_stable_ppm != 0 && options.shard.count > 1) {
    throw UsageError("--until-stable and shards do not go together: no shard sees all behaviours");
  }
  return options;
}

}  // namespace fermata::sim::cli
