// SPDX-License-Identifier: Apache-2.0

// The bundled suite: explores every law and some small programs, with each strategy, and says what
// that came to. Without --runs it takes a fixed number of steps, and spends them where schedules
// are still new. With --trace-hashes it prints what a fixed list of runs came to, for comparison
// between compilers.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/run/process/watched_exploration.hpp"
#include "properties/laws/law.hpp"
#include "properties/suite/entries.hpp"

namespace fermata::properties::suite {
namespace {

constexpr std::array kStrategies = {"fifo", "random", "pct:3"};
constexpr std::uint64_t kHashedSeeds = 20;
constexpr std::uint64_t kTurn = 256;  // Schedules of one entry, then another one may follow.
constexpr std::uint64_t kSteps = 22'000'000;  // Of all entries, when no schedules are asked for.

/// What is going on, on one line of a terminal.
class Progress {
 public:
  /// `done` of `whole` is over.
  void show(std::uint64_t done, std::uint64_t whole, const std::string& name) {
    if (!terminal_) return;
    const std::uint64_t percent = std::min<std::uint64_t>(done * 100 / whole, 99);
    fmt::print("\r\x1b[K[{:>3}%] {}", percent, name);
    std::fflush(stdout);
  }
  void clear() const {
    if (terminal_) fmt::print("\r\x1b[K");
  }

 private:
  bool terminal_ = ::isatty(STDOUT_FILENO) != 0;
};

struct Choice {
  std::uint64_t runs = 0;  // Schedules explored for each entry; 0: as many as are worth it.
  std::uint64_t seed = 1;
  std::string only;            // Names with commas between; empty: all.
  std::string strategy;        // Empty: each in turn, with seeds of its own.
  std::string faults = "all";  // In the syntax of FaultSet::parse().

  [[nodiscard]] std::string faults_option() const {
    return faults == "all" ? "" : " --faults " + faults;
  }
  /// Of the turn number `turn` of each entry.
  [[nodiscard]] const char* strategy_of(std::uint64_t turn) const {
    return strategy.empty() ? kStrategies[turn % kStrategies.size()] : strategy.c_str();
  }
  /// The base seed of the turn: each has scripts of its own.
  [[nodiscard]] std::uint64_t seed_of(std::uint64_t turn) const {
    return turn == 0 ? seed : sim::key_of(seed, turn);
  }
};

struct Sum {
  std::uint64_t runs = 0;
  std::uint64_t distinct = 0;
  std::uint64_t steps = 0;
  Duration virtual_time{};
  std::uint64_t laws = 0;
  sim::FaultCounts faults{};

  void add(const sim::ExploreResult& result) {
    runs += result.runs;
    steps += result.steps;
    virtual_time += result.virtual_time;
    for (std::size_t i = 0; i < faults.size(); ++i) faults[i] += result.fault_counts[i];
  }
};

void print_statistics(const Sum& sum, const Tally& total, double seconds) {
  fmt::print("\n");
  fmt::print("schedules             {}\n", sum.runs);
  fmt::print("distinct trace hashes {}\n", sum.distinct);
  fmt::print("steps                 {}\n", sum.steps + total.steps);
  fmt::print("coroutines in laws    {}\n", total.coroutines);
  fmt::print("deadlocks in laws     {} (each expected by the model)\n", total.deadlocks);
  fmt::print("shutdowns in laws     {}\n", total.shutdowns);
  fmt::print("virtual time          {:.1f} s\n",
             std::chrono::duration<double>(sum.virtual_time).count());
  fmt::print("schedules/s           {:.0f}\n", static_cast<double>(sum.runs) / seconds);
  fmt::print("laws executed         {}\n", sum.laws);
  fmt::print("faults fired         ");
  for (std::size_t i = 0; i < sum.faults.size(); ++i) {
    fmt::print(" {} {}{}", sim::to_string(static_cast<sim::Fault>(i)), sum.faults[i],
               i + 1 < sum.faults.size() ? "," : "\n");
  }
}

int report(const Choice& choice, const Entry& entry, const char* strategy,
           const sim::FoundFailure& found) {
  fmt::print("\n{} [{}]: {}: {}\n", entry.name, strategy, sim::to_string(found.failure.verdict),
             found.failure.message);
  fmt::print("  coroutine '{}', seed {}, strategy {}, trace hash {:016x}\n",
             found.failure.coroutine, sim::seed_text(found.tape.seed), found.tape.strategy,
             found.tape.trace_hash);
  fmt::print("reproduce: fermata_suite --only {} --strategy {} --seed {} --runs 1{}\n", entry.name,
             found.tape.strategy, sim::seed_text(found.tape.seed), choice.faults_option());
  fmt::print("{}\n", found.failure.explanation);
  const std::string small =
      entry.law != nullptr ? shrunk(*entry.law, strategy, found.tape.seed) : std::string();
  if (!small.empty()) fmt::print("as small as it gets: {}\n", small);
  fmt::print("{}{}\n", found.arguments, found.output);
  return sim::exit_code(found.failure.verdict);
}

void keep_only(std::vector<Entry>& all, std::string_view names) {
  std::vector<Entry> kept;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Entry& e) { return e.name == name; });
    if (found == all.end()) throw UsageError(fmt::format("there is no '{}'", name));
    kept.push_back(*found);
  }
  all = std::move(kept);
}

/// An entry, and what its turns have come to.
class Search {
 public:
  explicit Search(const Entry& of) : entry(of) {}

  /// One more turn of `runs` schedules.
  sim::ExploreResult explore(const Choice& choice, std::uint64_t runs,
                             const sim::SharedStatus& status) {
    sim::ExploreOptions options;
    options.name = entry.name;
    options.strategy = choice.strategy_of(turns_);
    options.seed = choice.seed_of(turns_);
    options.faults = choice.faults;
    options.runs = runs;
    status.name(fmt::format("{} --strategy {} --seed {}{}", entry.name, options.strategy,
                            sim::seed_text(options.seed), choice.faults_option()));
    options.on_run = [&](std::uint64_t run, const sim::ExploreResult& /*so_far*/) {
      status.page().run.store(run, std::memory_order_relaxed);
      return true;
    };
    sim::ExploreResult result = sim::explore(options, entry.program);
    ++turns_;
    runs_ += result.runs;
    steps_ += result.steps + entry.beside_steps * result.runs;
    const std::uint64_t known = behaviours_.kinds();
    behaviours_.add(result.behaviours);
    new_share_ = behaviours_.kinds() - known;
    return result;
  }

  /// What its schedules have cost, more when the last ones were not new: whoever has the least is
  /// next. In steps, which are the same on every machine.
  [[nodiscard]] std::uint64_t cost() const noexcept {
    return steps_ * kTurn / std::max(new_share_, kTurn / 16);
  }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  [[nodiscard]] std::uint64_t turns() const noexcept { return turns_; }
  [[nodiscard]] std::uint64_t runs() const noexcept { return runs_; }
  [[nodiscard]] std::uint64_t distinct() const noexcept { return behaviours_.kinds(); }

  const Entry& entry;

 private:
  std::uint64_t turns_ = 0;
  std::uint64_t runs_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t new_share_ = kTurn;  // Of the last turn.
  sim::DistinctRuns behaviours_;
};

class Exploration {
 public:
  Exploration(const Choice& choice, const sim::SharedStatus& status)
      : choice_(choice), status_(status), all_(entries(&total_)) {
    if (!choice.only.empty()) keep_only(all_, choice.only);
    for (const Entry& entry : all_) searches_.emplace_back(entry);
  }

  /// Returns what the process is to end with.
  int explore() {
    const auto start = std::chrono::steady_clock::now();
    const int exit_code = choice_.runs > 0 ? explore_each() : explore_what_is_new();
    if (exit_code != 0) return exit_code;
    progress_.clear();
    for (const Search& search : searches_) {
      fmt::print("  {:<22} {:>7} schedules, {:>7} different\n", search.entry.name, search.runs(),
                 search.distinct());
      sum_.distinct += search.distinct();
      sum_.laws += search.entry.law != nullptr ? 1 : 0;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    print_statistics(sum_, total_, took.count());
    return 0;
  }

 private:
  /// As many schedules as were asked for, a share of them with each strategy.
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
    while (spent() < kSteps) {
      Search& next = *std::min_element(searches_.begin(), searches_.end(), is_cheaper);
      progress_.show(spent(), kSteps, next.entry.name);
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
    const char* strategy = choice_.strategy_of(search.turns());
    const sim::ExploreResult result = search.explore(choice_, runs, status_);
    sum_.add(result);
    return result.found ? report(choice_, search.entry, strategy, *result.found) : 0;
  }

  const Choice& choice_;
  const sim::SharedStatus& status_;
  Tally total_;
  Sum sum_;
  std::vector<Entry> all_;
  std::vector<Search> searches_;
  Progress progress_;
};

int explore_all(const Choice& choice, const sim::SharedStatus& status) {
  return Exploration(choice, status).explore();
}

/// In a process of its own, but for a single run, which a debugger may want to see.
int explore_watched(const Choice& choice) {
  if (choice.runs == 1) return explore_all(choice, sim::SharedStatus::open({}));
  return sim::explore_watched(
      [&](const sim::SharedStatus& status) { return explore_all(choice, status); },
      [&](std::string_view name, std::uint64_t run) {
        return fmt::format("fermata_suite --only {} --runs {}", name, run + 1);
      });
}

int list() {
  for (const Entry& entry : entries()) fmt::print("{}\n", entry.name);
  return 0;
}

int print_trace_hashes() {
  for (const Entry& entry : entries()) {
    for (std::uint64_t seed = 1; seed <= kHashedSeeds; ++seed) {
      sim::ExploreOptions options;
      options.name = entry.name;
      options.seed = seed;
      options.runs = 1;
      options.check_determinism = 0;
      const sim::ExploreResult result = sim::explore(options, entry.program);
      fmt::print("{} {} {:016x}\n", entry.name, seed, result.trace_hash);
    }
  }
  return 0;
}

}  // namespace
}  // namespace fermata::properties::suite

int main(int argc, char** argv) {
  using fermata::properties::suite::Choice;
  Choice choice;
  bool hashes = false;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string_view option = argv[i];
      if (option == "--trace-hashes") {
        hashes = true;
        continue;
      }
      if (option == "--list") return fermata::properties::suite::list();
      if (i + 1 == argc) throw fermata::UsageError("expected a value after " + std::string(option));
      const std::string value = argv[++i];
      if (option == "--runs") {
        choice.runs = fermata::sim::parse_seed(value);
        if (choice.runs == 0) throw fermata::UsageError("--runs 0: expected at least 1");
      } else if (option == "--seed") {
        choice.seed = fermata::sim::parse_seed(value);
      } else if (option == "--only") {
        choice.only = value;
      } else if (option == "--strategy") {
        choice.strategy = value;
      } else if (option == "--faults") {
        static_cast<void>(fermata::sim::FaultSet::parse(value));
        choice.faults = value;
      } else {
        throw fermata::UsageError(
            std::string(option) + " is no option; expected --runs N, " +
            "--seed S, --only ENTRY,..., --strategy NAME, --faults LIST, --list, --trace-hashes");
      }
    }
    return hashes ? fermata::properties::suite::print_trace_hashes()
                  : fermata::properties::suite::explore_watched(choice);
  } catch (const fermata::Error& error) {
    fmt::print(stderr, "fermata_suite: {}\n", error.what());
    return 1;
  }
}
