// SPDX-License-Identifier: Apache-2.0

// Everything that reads what people, files and other processes write: it refuses with an Error, and
// what it accepts means the same when it is written and read again. The first byte says which of
// them gets the rest.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/cli/filter.hpp"
#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/reproduce.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/input.hpp"
#include "fermata/sim/tape/tape.hpp"

namespace fermata::fuzz {
namespace {

void expect_same(const std::string& once, const std::string& again, const char* what) {
  if (once == again) return;
  std::fprintf(stderr, "%s: read and written again it differs\n%s\n%s\n", what, once.c_str(),
               again.c_str());
  std::abort();
}

void read_tape(std::string_view text) {
  const std::string once = to_text(sim::parse_tape(text, "fuzzed"));
  expect_same(once, to_text(sim::parse_tape(once, "written")), "tape");
}

/// Reads `text` as if nothing had been cut off or changed on the way.
void read_intact_tape(std::string_view text) {
  std::string whole(text);
  if (!whole.empty() && whole.back() != '\n') whole += '\n';
  std::size_t decisions = 0;
  for (std::size_t at = 0; at < whole.size(); at = whole.find('\n', at) + 1) {
    const std::string_view line = std::string_view(whole).substr(at);
    decisions += line.starts_with("pick ") || line.starts_with("draw ");
  }
  whole += fmt::format("end {} {:#x}\n", decisions, sim::key_of(whole));
  read_tape(whole);
}

/// The variables that a failure's line sets.
std::string fixed_by(const sim::Options& options) {
  std::string text;
  const sim::detail::Reproduction reproduction{options.seed.value_or(0), 1, options.strategy,
                                               options.first_run};
  for (const auto& [name, value] : settings_of(reproduction, options)) {
    text += fmt::format("{}={}\n", name, value);
  }
  return text;
}

/// `text` has an entry on each line.
sim::Options options_of(const std::string& text) {
  std::vector<std::string> entries;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    entries.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::vector<const char*> pointers;
  for (const std::string& entry : entries) pointers.push_back(entry.c_str());
  pointers.push_back(nullptr);
  return sim::read_environment(pointers.data());
}

void read_environment(std::string_view text) {
  const std::string once = fixed_by(options_of(std::string(text)));
  expect_same(once, fixed_by(options_of(once)), "environment");
}

void read_strategy(std::string_view text) {
  const std::string once = sim::make_strategy(text)->name();
  expect_same(once, sim::make_strategy(once)->name(), "strategy");
}

void read_seed(std::string_view text) {
  const std::string once = sim::seed_text(sim::parse_seed(text));
  expect_same(once, sim::seed_text(sim::parse_seed(once)), "seed");
}

void read_duration(std::string_view text) {
  const std::string once = sim::duration_text(sim::parse_duration(text));
  expect_same(once, sim::duration_text(sim::parse_duration(once)), "duration");
}

void read_filter(std::string_view text) {
  const std::size_t middle = std::min(text.find('\n'), text.size());
  const std::string_view name = text.substr(std::min(middle + 1, text.size()));
  static_cast<void>(sim::cli::selects(text.substr(0, middle), name));
}

void read_input(std::string_view text) {
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  const auto once = sim::FuzzInput::decode(bytes).encode();
  const auto again = sim::FuzzInput::decode(once).encode();
  expect_same(sim::to_hex(once), sim::to_hex(again), "input");
}

constexpr std::array kReaders = {&read_tape, &read_intact_tape, &read_environment, &read_strategy,
                                 &read_seed, &read_duration,    &read_filter,      &read_input};

}  // namespace
}  // namespace fermata::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(data + 1, data + size);
  try {
    fermata::fuzz::kReaders[data[0] % fermata::fuzz::kReaders.size()](text);
  } catch (const fermata::Error&) {
  }
  return 0;
}
