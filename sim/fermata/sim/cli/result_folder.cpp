// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/result_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/key.hpp"

namespace fermata::sim::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kReplay = "replay-";

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
  const Json json = read_plan_file(root_ + "/plan.json", "the --out folder of a `fermata run`");
  if (state != nullptr) {
    *state = json.value("complete", false) ? State::Complete : State::Under_way;
  }
  return plan_of(json);
}

void ResultFolder::write_plan(const Plan& plan, State state) const {
  Json json = json_of(plan);
  json["complete"] = state == State::Complete;
  write_plan_file(root_ + "/plan.json", std::move(json));
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

std::vector<EventFiles> ResultFolder::range_files(const std::string& test) const {
  std::vector<EventFiles> files;
  for (const std::string& path : events_in(folder_of(test), false)) {
    files.push_back(event_files(path));
  }
  return files;
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
