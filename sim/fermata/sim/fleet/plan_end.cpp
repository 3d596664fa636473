// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fleet/plan_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/sim/fleet/patience.hpp"

namespace fermata::sim::fleet {

std::optional<std::size_t> parse_end(const std::string& text) {
  std::size_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || count == 0 || std::string_view(stop, end) != "\n")
    return std::nullopt;
  return count;
}

PlanEnd::PlanEnd(const PlanFolder& folder, Publisher& publisher, Duration time)
    : folder_(folder), publisher_(publisher), time_(time) {
  FERMATA_ASSERT(time > Duration{});
}

std::optional<std::size_t> PlanEnd::decided() const {
  try {
    const auto count = parse_end(fs::read_file(folder_.root() + '/' + PlanFolder::kEnd));
    if (!count) {
      throw Error(
          fmt::format("{}/{}: expected a number of chunks", folder_.root(), PlanFolder::kEnd));
    }
    return count;
  } catch (const InputOutputError& error) {
    if (error.code() != ENOENT) throw;
    return std::nullopt;
  }
}

std::size_t PlanEnd::decide(std::size_t count) {
  FERMATA_ASSERT(count > 0);
  patiently(
      [&] { publisher_.publish(folder_.root(), PlanFolder::kEnd, fmt::format("{}\n", count)); });
  return patiently([&] {
    const std::optional<std::size_t> all = decided();
    if (!all) throw InputOutputError("read the end of the plan", ENOENT);
    return *all;
  });
}

bool PlanEnd::is_used_up(const WorkerStatus& own) {
  constexpr Duration kSeldom = std::chrono::seconds(15);
  if (now() - looked_ >= std::min(kSeldom, time_ / 32)) {
    looked_ = now();
    others_ = {};
    for (const WorkerStatus& one : patiently([&] { return workers_of(folder_); })) {
      if (one.worker != own.worker) others_ += one.busy;
    }
  }
  return others_ + own.busy >= time_;
}

}  // namespace fermata::sim::fleet
