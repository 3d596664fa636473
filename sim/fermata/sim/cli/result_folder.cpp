// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/result_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fermata/base/error.hpp"
#include "fermata/base/text_of.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/base/whole_file.hpp"

namespace fermata::sim::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr const char* kReplay = "replay-";

/// What decides what the runs are.
Json identity(const Plan& plan) {
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

/// The events files in `folder` whose names begin with `prefix`.
std::vector<std::string> events_in(const std::string& folder, bool of_replays) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".events") && name.starts_with(kReplay) == of_replays) {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

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

bool Plan::same_exploration(const Plan& other) const { return identity(*this) == identity(other); }

ResultFolder::ResultFolder(const std::string& out) : root_(out + "/exploration") {}

ResultFolder::~ResultFolder() {
  if (lock_ >= 0) ::close(lock_);
}

void ResultFolder::take() {
  std::error_code error;
  fs::create_directories(root_, error);
  const std::string path = root_ + "/lock";
  if (!error) {
    lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock_ < 0) error.assign(errno, std::generic_category());
  }
  if (error) {
    throw UsageError(
        fmt::format("the output folder {} cannot be written to: {}; --out names another one", root_,
                    error.message()));
  }
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    throw UsageError(fmt::format(
        "another fermata explores into {}; wait for it, or give another folder with --out", root_));
  }
}

bool ResultFolder::has_plan() const { return fs::exists(root_ + "/plan.json"); }

Plan ResultFolder::plan(State* state) const {
  const std::string path = root_ + "/plan.json";
  std::ifstream file(path);
  if (!file) {
    throw UsageError(
        fmt::format("{} cannot be read: {}; expected the --out folder of a `fermata "
                    "run`",
                    path, fermata::detail::errno_text(errno)));
  }
  const Json json = Json::parse(file, nullptr, false);
  if (!json.is_object() || json.value("format", 0) != kFormat) {
    throw UsageError(fmt::format("{} is not a plan of format {}", path, kFormat));
  }
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
  if (state != nullptr) {
    *state = json.value("complete", false) ? State::Complete : State::Under_way;
  }
  return plan;
}

void ResultFolder::write_plan(const Plan& plan, State state) const {
  Json json = identity(plan);
  json["format"] = kFormat;
  json["program"] = plan.program;
  json["whole_program"] = plan.whole_program;
  json["shard_index"] = plan.options.shard.index;
  json["shard_count"] = plan.options.shard.count;
  json["complete"] = state == State::Complete;
  json["spent_ms"] = Json::object();
  for (const auto& [test, time] : plan.spent) json["spent_ms"][test] = time.count();
  const std::string path = root_ + "/plan.json";
  const std::string fresh = path + ".new";
  write_whole_file(fresh, json.dump(2) + '\n');
  fs::rename(fresh, path);
}

void ResultFolder::clear() const {
  for (const auto& entry : fs::directory_iterator(root_)) {
    if (entry.is_directory()) fs::remove_all(entry.path());
  }
}

std::string ResultFolder::folder_of(const std::string& test) const { return root_ + '/' + test; }

std::string ResultFolder::events_path(const std::string& test, std::uint64_t first) const {
  fs::create_directories(folder_of(test));
  return fmt::format("{}/{:012}.events", folder_of(test), first);
}

std::string ResultFolder::replay_events_path(const std::string& test,
                                             const std::string& tape) const {
  fs::create_directories(folder_of(test));
  return fmt::format("{}/{}{:016x}.events", folder_of(test), kReplay, key_of(tape));
}

std::vector<RangeResult> ResultFolder::ranges(const std::string& test) const {
  std::vector<RangeResult> records;
  for (const std::string& path : events_in(folder_of(test), false)) {
    ReportedEvents reported = read_events(path);
    if (reported.explored && reported.explored->counts.runs > 0) {
      records.push_back(std::move(*reported.explored));
    }
  }
  return records;
}

std::vector<ReplayResult> ResultFolder::replays(const std::string& test) const {
  std::vector<ReplayResult> records;
  for (const std::string& path : events_in(folder_of(test), true)) {
    ReportedEvents reported = read_events(path);
    if (reported.replayed) records.push_back(std::move(*reported.replayed));
  }
  return records;
}

void ResultFolder::forget(const std::string& test, std::uint64_t first) const {
  const std::string path = events_path(test, first);
  for (const std::string& file : {path, path + ".behaviours", path + ".status"}) {
    std::error_code ignored;
    fs::remove(file, ignored);
  }
}

}  // namespace fermata::sim::cli
