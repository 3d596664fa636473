// SPDX-License-Identifier: Apache-2.0

// The bundled suite: explores every law and some small programs, with each strategy, and says what
// that came to. With --trace-hashes it prints what a fixed list of runs came to, for comparison
// between compilers.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
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

/// What is going on, on one line of a terminal; elsewhere a line for each entry.
class Progress {
 public:
  Progress(std::size_t entries, std::uint64_t runs) : entries_(entries), runs_(runs) {}
  void entry(const std::string& name) {
    name_ = name;
    ++entry_;
    show(0);
  }
  void run(std::uint64_t done) {
    if (done % 64 == 0) show(done);
  }
  void passed(const sim::ExploreResult& result) {
    if (terminal_) fmt::print("\r\x1b[K");
    fmt::print("  {:<22} {:>7} schedules, {:>7} different\n", name_, result.runs,
               result.distinct_runs);
    std::fflush(stdout);
  }

 private:
  void show(std::uint64_t done) const {
    if (!terminal_) return;
    const std::uint64_t total = entries_ * runs_;
    const std::uint64_t so_far = (entry_ - 1) * runs_ + done;
    fmt::print("\r\x1b[K[{:>3}%] {} of {} schedules: {}", so_far * 100 / total, so_far, total,
               name_);
    std::fflush(stdout);
  }

  bool terminal_ = ::isatty(STDOUT_FILENO) != 0;
  std::size_t entries_;
  std::uint64_t runs_;
  std::size_t entry_ = 0;
  std::string name_;
};

struct Choice {
  std::uint64_t runs = 4'000;  // Schedules explored for each entry.
  std::uint64_t seed = 1;
  std::string only;            // Names with commas between; empty: all.
  std::string strategy;        // Empty: each in turn, with seeds of its own.
  std::string faults = "all";  // In the syntax of FaultSet::parse().

  [[nodiscard]] std::string faults_option() const {
    return faults == "all" ? "" : " --faults " + faults;
  }
  /// The base seed for the strategy at `index`: each has scripts of its own.
  [[nodiscard]] std::uint64_t seed_of(std::size_t index) const {
    return strategy.empty() && index > 0 ? sim::key_of(seed, index) : seed;
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
    distinct += result.distinct_runs;
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

int explore_all(const Choice& choice, const sim::SharedStatus& status) {
  Tally total;
  Sum sum;
  auto all = entries(&total);
  if (!choice.only.empty()) keep_only(all, choice.only);
  Progress progress(all.size(), choice.runs);
  const auto start = std::chrono::steady_clock::now();
  for (const Entry& entry : all) {
    progress.entry(entry.name);
    std::uint64_t before = 0;
    sim::ExploreResult of_entry;
    for (std::size_t i = 0; i < kStrategies.size(); ++i) {
      const bool chosen = !choice.strategy.empty();
      const char* strategy = chosen ? choice.strategy.c_str() : kStrategies[i];
      sim::ExploreOptions options;
      options.name = entry.name;
      options.strategy = strategy;
      options.seed = choice.seed_of(i);
      options.faults = choice.faults;
      options.runs = chosen ? choice.runs : (choice.runs + i) / kStrategies.size();
      status.name(fmt::format("{} --strategy {} --seed {}{}", entry.name, strategy,
                              sim::seed_text(options.seed), choice.faults_option()));
      options.on_run = [&](std::uint64_t run, const sim::ExploreResult& /*so_far*/) {
        status.page().run.store(run, std::memory_order_relaxed);
        progress.run(before + run);
        return true;
      };
      const sim::ExploreResult result = sim::explore(options, entry.program);
      sum.add(result);
      before += result.runs;
      of_entry.runs += result.runs;
      of_entry.distinct_runs += result.distinct_runs;
      if (result.found) return report(choice, entry, strategy, *result.found);
      if (chosen) break;
    }
    progress.passed(of_entry);
    sum.laws += entry.law != nullptr ? 1 : 0;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  print_statistics(sum, total, took.count());
  return 0;
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
