// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fermata/base/error.hpp"
#include "fermata/base/text_of.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/base/whole_file.hpp"

namespace fermata::sim::cli {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;

}  // namespace

Plan Plan::of(const RunOptions& options, const TestBinary& binary,
              const std::vector<ListedTest>& tests) {
  Plan plan{.program = binary.path(),
            .build = binary.build(),
            .whole_program = false,
            .options = options};
  std::size_t enabled = 0;
  for (const ListedTest& test : tests) {
    plan.tests.push_back(test.name);
    enabled += !test.is_disabled();
  }
  const auto all = static_cast<std::size_t>(
      std::count_if(binary.tests().begin(), binary.tests().end(),
                    [](const ListedTest& test) { return !test.is_disabled(); }));
  plan.whole_program = enabled == all && (all > 0 || tests.size() == binary.tests().size());
  return plan;
}

bool Plan::same_exploration(const Plan& other) const {
  return identity_of(*this) == identity_of(other);
}

Json identity_of(const Plan& plan) {
  const RunOptions& options = plan.options;
  return {{"build", plan.build},
          {"tests", plan.tests},
          {"seed", seed_text(options.seed)},
          {"runs", options.runs},
          {"strategy", options.strategy},
          {"faults", options.faults},
          {"keep_going", options.keep_going},
          {"until_stable_ppm", options.until_stable_ppm},
          {"corpus", options.corpus},
          {"settings", options.handed_on}};
}

Json json_of(const Plan& plan) {
  Json json = identity_of(plan);
  json["program"] = plan.program;
  json["whole_program"] = plan.whole_program;
  json["shard_index"] = plan.options.shard.index;
  json["shard_count"] = plan.options.shard.count;
  json["spent_ms"] = Json::object();
  for (const auto& [test, time] : plan.spent) json["spent_ms"][test] = time.count();
  return json;
}

Plan plan_of(const Json& json) {
  Plan plan;
  plan.program = json.value("program", "");
  plan.build = json.value("build", "");
  plan.tests = json.value("tests", std::vector<std::string>());
  plan.whole_program = json.value("whole_program", false);
  plan.options.seed = parse_seed(json.value("seed", "0"));
  plan.options.runs = json.value("runs", kNoEnd);
  plan.options.strategy = json.value("strategy", "");
  plan.options.faults = json.value("faults", "");
  plan.options.keep_going = json.value("keep_going", false);
  plan.options.until_stable_ppm = json.value("until_stable_ppm", std::uint64_t{0});
  plan.options.corpus = json.value("corpus", "");
  plan.options.handed_on = json.value("settings", Settings());
  plan.options.shard.index = json.value("shard_index", std::uint64_t{0});
  plan.options.shard.count = json.value("shard_count", std::uint64_t{1});
  const auto spent = json.value("spent_ms", std::map<std::string, std::int64_t>());
  for (const auto& [test, time] : spent) plan.spent[test] = std::chrono::milliseconds(time);
  return plan;
}

Json read_plan_file(const std::string& path, const std::string& owner) {
  std::ifstream file(path);
  if (!file) {
    throw UsageError(fmt::format("{} cannot be read: {}; expected {}", path,
                                 fermata::detail::errno_text(errno), owner));
  }
  Json json = Json::parse(file, nullptr, false);
  if (!json.is_object() || json.value("format", 0) != kFormat) {
    throw UsageError(fmt::format("{} is not a plan of format {}", path, kFormat));
  }
  return json;
}

void write_plan_file(const std::string& path, Json json) {
  json["format"] = kFormat;
  const std::string fresh = path + ".new";
  write_whole_file(fresh, json.dump(2) + '\n');
  std::filesystem::rename(fresh, path);
}

}  // namespace fermata::sim::cli
