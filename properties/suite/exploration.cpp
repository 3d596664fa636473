// SPDX-License-Identifier: Apache-2.0
#include "properties/suite/exploration.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <string_view>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/explore.hpp"
#include "properties/suite/replays.hpp"
#include "properties/suite/self_checks.hpp"

namespace fermata::properties::suite {
namespace {

constexpr std::array kStrategies = {"fifo", "random", "pct:3"};
constexpr std::uint64_t kTurn = 256;  // Schedules of one entry, then another one may follow.
constexpr std::uint64_t kSteps = 20'000'000;  // Of all entries, when no schedules are asked for.

/// What is going on, on one line of a terminal.
class Progress {
 public:
  explicit Progress(bool wanted) : terminal_(wanted && ::isatty(STDOUT_FILENO) != 0) {}

  /// `done` of `whole` is over.
  void show(std::uint64_t done, std::uint64_t whole, const std::string& name) const {
    if (!terminal_) return;
    const std::uint64_t percent = std::min<std::uint64_t>(done * 100 / whole, 99);
    fmt::print("\r\x1b[K[{:>3}%] {}", percent, name);
    std::fflush(stdout);
  }
  void clear() const {
    if (terminal_) fmt::print("\r\x1b[K");
  }

 private:
  bool terminal_;
};

int report(const Choice& choice, const Entry& entry, const std::string& strategy,
           const sim::FoundFailure& found) {
  fmt::print("\n{} [{}]: {}: {}\n", entry.name, strategy, sim::to_string(found.failure.verdict),
             found.failure.message);
  fmt::print("  coroutine '{}', seed {}, strategy {}, trace hash {:016x}\n",
             found.failure.coroutine, sim::seed_text(found.tape.seed), found.tape.strategy,
             found.tape.trace_hash);
  fmt::print("reproduce: fermata_suite --only {} --strategy {} --seed {} --runs 1{}\n", entry.name,
             found.tape.strategy, sim::seed_text(found.tape.seed), choice.faults_option());
  fmt::print("{}\n", found.failure.explanation);
  const bool shrinks = entry.law != nullptr && sim::process_options().shrink != sim::When::Off;
  const std::string small = shrinks ? shrunk(*entry.law, strategy, found.tape.seed) : std::string();
  if (!small.empty()) fmt::print("as small as it gets: {}\n", small);
  fmt::print("{}{}\n", found.arguments, found.output);
  return sim::exit_code(found.failure.verdict);
}

/// Says that a run does not come back from its tape. Returns what the process is to end with.
int report(const Choice& choice, const Entry& entry, const sim::CheckedRun& run,
           const std::string& difference) {
  fmt::print("\n{} [{}]: {}: {}\n", entry.name, run.strategy,
             sim::to_string(sim::Verdict::Divergence), difference);
  fmt::print("reproduce: fermata_suite --only {} --strategy {} --seed {} --runs 1{}\n", entry.name,
             run.strategy, sim::seed_text(run.seed), choice.faults_option());
  return sim::exit_code(sim::Verdict::Divergence);
}

/// An entry, and what its turns have come to.
class Search {
 public:
  Search(const Entry& of, Result::Row& row) : entry(of), row_(row) {}

  /// One more turn of `runs` schedules. Adds to `result`, and returns what the process is to end
  /// with: a failure has been printed.
  int explore(const Choice& choice, std::uint64_t runs, const sim::SharedStatus& status,
              Result& result) {
    sim::ExploreOptions options;
    options.name = entry.name;
    options.keep_checked = true;
    options.strategy = strategy(choice);
    // The base seed of the turn: each has scripts of its own.
    options.seed = turns_ == 0 ? choice.seed : sim::key_of(choice.seed, turns_);
    options.faults = choice.faults;
    options.runs = runs;
    status.name(fmt::format("{} --strategy {} --seed {}{}", entry.name, options.strategy,
                            sim::seed_text(options.seed), choice.faults_option()));
    options.on_run = [&](std::uint64_t run, const sim::ExploreResult& /*so_far*/) {
      status.page().run.store(run, std::memory_order_relaxed);
      return true;
    };
    const sim::ExploreResult came = sim::explore(options, entry.program);
    note(came);
    result.steps += came.steps;
    result.virtual_time += came.virtual_time;
    for (std::size_t i = 0; i < came.fault_counts.size(); ++i) {
      result.faults[i] += came.fault_counts[i];
    }
    if (came.found) return report(choice, entry, options.strategy, *came.found);
    if (came.checked.empty()) return 0;
    const sim::CheckedRun& checked = came.checked.front();
    const std::string difference = replay_difference(options, entry.program, checked);
    return difference.empty() ? 0 : report(choice, entry, checked, difference);
  }

  /// The strategy of the next turn.
  [[nodiscard]] const char* strategy(const Choice& choice) const {
    return choice.strategy.empty() ? kStrategies[turns_ % kStrategies.size()]
                                   : choice.strategy.c_str();
  }
  /// What its schedules have cost, more when the last ones were not new: whoever has the least is
  /// next. In steps, which are the same on every machine.
  [[nodiscard]] std::uint64_t cost() const noexcept {
    return steps_ * kTurn / std::max(new_share_, kTurn / 16);
  }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

  const Entry& entry;

 private:
  /// One turn more.
  void note(const sim::ExploreResult& came) {
    ++turns_;
    row_.runs += came.runs;
    steps_ += came.steps + entry.beside_steps * came.runs;
    const std::uint64_t known = row_.distinct;
    behaviours_.add(came.behaviours);
    row_.distinct = behaviours_.kinds();
    new_share_ = row_.distinct - known;
  }

  Result::Row& row_;
  std::uint64_t turns_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t new_share_ = kTurn;  // Of the last turn.
  sim::DistinctRuns behaviours_;
};

class Exploration {
 public:
  Exploration(const Choice& choice, Share share, const sim::SharedStatus& status, Result& result)
      : choice_(choice),
        status_(status),
        result_(result),
        all_(chosen(choice, &result.in_laws)),
        budget_(kSteps / share.of),
        is_first_(share.first == 0),
        progress_(is_first_) {
    FERMATA_ASSERT(all_.size() <= Result::kMostEntries);
    for (std::size_t i = share.first; i < all_.size(); i += share.of) {
      searches_.emplace_back(all_[i], result.rows[i]);
    }
  }

  int explore() {
    if (is_first_ && choice_.only.empty()) {
      if (const int code = try_controls(result_.controls)) return code;
    }
    const int exit_code = choice_.runs > 0 ? explore_each() : explore_what_is_new();
    progress_.clear();
    return exit_code;
  }

 private:
  /// Explores as many schedules as were asked for, a share of them with each strategy.
  int explore_each() {
    const std::uint64_t turns = choice_.strategy.empty() ? kStrategies.size() : 1;
    for (std::size_t i = 0; i < searches_.size(); ++i) {
      for (std::uint64_t turn = 0; turn < turns; ++turn) {
        progress_.show(i * turns + turn, searches_.size() * turns, searches_[i].entry.name);
        if (const int code = take_turn(searches_[i], (choice_.runs + turn) / turns)) return code;
      }
    }
    return 0;
  }

  /// One turn after the other, where schedules are still new and cost little.
  int explore_what_is_new() {
    const auto is_cheaper = [](const Search& one, const Search& other) {
      return one.cost() < other.cost();
    };
    while (spent() < budget_ && !searches_.empty()) {
      Search& next = *std::min_element(searches_.begin(), searches_.end(), is_cheaper);
      progress_.show(spent(), budget_, next.entry.name);
      if (const int code = take_turn(next, kTurn)) return code;
    }
    return 0;
  }

  /// In steps, with what schedules cost beside theirs.
  [[nodiscard]] std::uint64_t spent() const noexcept {
    return std::accumulate(
        searches_.begin(), searches_.end(), std::uint64_t{0},
        [](std::uint64_t sum, const Search& search) { return sum + search.steps(); });
  }

  int take_turn(Search& search, std::uint64_t runs) {
    return search.explore(choice_, runs, status_, result_);
  }

  const Choice& choice_;
  const sim::SharedStatus& status_;
  Result& result_;
  std::vector<Entry> all_;
  std::vector<Search> searches_;
  std::uint64_t budget_;
  bool is_first_;
  Progress progress_;
};

}  // namespace

void Result::add(const Result& other) {
  for (std::size_t i = 0; i < kMostEntries; ++i) {
    rows[i].runs += other.rows[i].runs;
    rows[i].distinct += other.rows[i].distinct;
  }
  controls += other.controls;
  steps += other.steps;
  virtual_time += other.virtual_time;
  for (std::size_t i = 0; i < faults.size(); ++i) faults[i] += other.faults[i];
  in_laws += other.in_laws;
}

std::vector<Entry> chosen(const Choice& choice, Tally* total) {
  std::vector<Entry> all = entries(total);
  if (choice.only.empty()) return all;
  std::vector<Entry> kept;
  std::string_view names = choice.only;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Entry& e) { return e.name == name; });
    if (found == all.end()) throw UsageError(fmt::format("there is no '{}'", name));
    kept.push_back(*found);
  }
  return kept;
}

int explore(const Choice& choice, Share share, const sim::SharedStatus& status, Result& result) {
  FERMATA_ASSERT(share.first < share.of);
  return Exploration(choice, share, status, result).explore();
}

void print(const Choice& choice, const Result& result, double seconds) {
  const std::vector<Entry> all = chosen(choice);
  Result::Row sum;
  std::size_t laws = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Result::Row& row = result.rows[i];
    fmt::print("  {:<22} {:>7} schedules, {:>7} different\n", all[i].name, row.runs, row.distinct);
    sum.runs += row.runs;
    sum.distinct += row.distinct;
    laws += all[i].law != nullptr ? 1 : 0;
  }
  const std::chrono::duration<double> virtual_time = result.virtual_time;
  fmt::print("\n");
  fmt::print("schedules             {}\n", sum.runs);
  fmt::print("distinct trace hashes {}\n", sum.distinct);
  fmt::print("steps                 {}\n", result.steps + result.in_laws.steps);
  fmt::print("coroutines in laws    {}\n", result.in_laws.coroutines);
  fmt::print("deadlocks in laws     {} (each expected by the model)\n", result.in_laws.deadlocks);
  fmt::print("shutdowns in laws     {}\n", result.in_laws.shutdowns);
  fmt::print("virtual time          {:.1f} s\n", virtual_time.count());
  fmt::print("schedules/s           {:.0f}\n", static_cast<double>(sum.runs) / seconds);
  fmt::print("laws executed         {}\n", laws);
  if (result.controls > 0) {
    fmt::print("controls              {} (wrong on purpose, each told in time)\n", result.controls);
  }
  fmt::print("faults fired         ");
  for (std::size_t i = 0; i < result.faults.size(); ++i) {
    fmt::print(" {} {}{}", sim::to_string(static_cast<sim::Fault>(i)), result.faults[i],
               i + 1 < result.faults.size() ? "," : "\n");
  }
}

}  // namespace fermata::properties::suite
