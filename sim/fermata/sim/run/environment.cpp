// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/audit/debugger_stops.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/base/suggestion.hpp"
#include "fermata/sim/inspect/function_class.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"

namespace fermata::sim {
namespace {

constexpr std::string_view kPrefix = "FERMATA_";

std::uint64_t parse_count(std::string_view text) {
  std::uint64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || stop != end) {
    throw UsageError(fmt::format("'{}' is not a valid number; expected decimal digits", text));
  }
  return count;
}

std::uint64_t parse_positive(std::string_view text) {
  const std::uint64_t count = parse_count(text);
  if (count == 0) throw UsageError("0 is too small; expected at least 1");
  return count;
}

std::string parse_path(std::string_view text) {
  if (text.empty()) throw UsageError("the path is empty");
  return std::string(text);
}

/// "12", a step; or a time, which may be as the table of steps has it: "+4.096 ms".
Moment parse_moment(std::string_view text) {
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) {
    return {.step = parse_positive(text), .time = std::nullopt};
  }
  std::string time(text.substr(text.starts_with('+') ? 1 : 0));
  std::erase(time, ' ');
  const std::size_t point = time.find('.');
  const std::size_t unit = std::min(time.find_first_not_of("0123456789."), time.size());
  if (point != std::string::npos && point < unit && time.substr(unit) == "ms") {
    std::string nanoseconds = time.substr(0, point) + time.substr(point + 1, unit - point - 1);
    const std::size_t digits = unit - point - 1;
    FERMATA_ASSERT(digits < time.size());
    if (digits <= 6) time = nanoseconds.append(6 - digits, '0') + "ns";
  }
  try {
    return {.step = std::nullopt, .time = Instant{} + parse_duration(time)};
  } catch (const UsageError&) {
    throw UsageError(
        fmt::format("'{}' is not a valid moment; expected a step, such as 12, or a time, such as "
                    "250ms or 4.096ms",
                    text));
  }
}

/// The index of `text` in `choices`.
template <std::size_t N>
std::size_t parse_choice(std::string_view text, const std::array<std::string_view, N>& choices) {
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found == choices.end()) {
    throw UsageError(fmt::format("'{}' is unknown; expected {}", text, fmt::join(choices, " or ")));
  }
  return static_cast<std::size_t>(found - choices.begin());
}

/// Whether it is the second of the two.
bool parse_either(std::string_view text, std::string_view first, std::string_view second) {
  return parse_choice(text, std::array{first, second}) == 1;
}

void read_check_determinism(Options& options, std::string_view text) {
  options.twin = text.substr(0, 4) == "twin";
  if (text == "twin") return;
  const bool with_number = options.twin && text.substr(4, 1) == ":";
  options.check_determinism = with_number ? parse_positive(text.substr(5)) : parse_count(text);
}

When parse_when(std::string_view text) {
  constexpr std::array<std::string_view, 3> kChoices = {"auto", "on", "off"};
  return static_cast<When>(parse_choice(text, kChoices));
}

TraceMode parse_trace(std::string_view text) {
  constexpr std::array<std::string_view, 3> kChoices = {"off", "all", "steps"};
  return static_cast<TraceMode>(parse_choice(text, kChoices));
}

void read_audit(Options& options, std::string_view text) {
  constexpr std::array<std::string_view, 3> kChoices = {"adaptive", "touched", "full"};
  const auto choice = parse_choice(text, kChoices);
  options.adaptive_audit = choice == 0;
  options.full_audit = choice == 2;
  FERMATA_ASSERT(!options.adaptive_audit || !options.full_audit);
}

constexpr std::array kVariables = {
    Variable{.name = "FERMATA_ALLOW_POSIX",
             .default_text = "",
             .meaning = "A comma-separated list of functions that fermata::posix does not serve, "
                        "such as `popen,waitpid`: a call fails with `ENOSYS` instead of failing "
                        "the run, and the run's output tells.",
             .read =
                 [](Options& options, std::string_view text) {
                   options.imports.allowed = detail::parse_unserved(text);
                 }},
    Variable{
        .name = "FERMATA_AT",
        .default_text = "",
        .meaning =
            "The moment that FERMATA_NETWORK and FERMATA_DISK show: a step as failures count them, "
            "such as `12`, or a virtual time, such as `250ms`. The default is the end of the run.",
        .read = [](Options& options,
                   std::string_view text) { options.moment = parse_moment(text); }},
    Variable{.name = "FERMATA_AUDIT",
             .default_text = "adaptive",
             .meaning = "What the audit checks. `adaptive`: after each step the objects that it "
                        "touched, and now and then everything; most runs of a search of more than "
                        "64, by samples. `touched`: the same without samples. `full`: after each "
                        "step everything.",
             .read = read_audit},
    Variable{.name = "FERMATA_BREAK_AT",
             .default_text = "",
             .meaning = "The step of a replay at whose begin the process stops in its debugger.",
             .read = [](Options& options,
                        std::string_view text) { options.break_at = parse_positive(text); }},
    Variable{
        .name = "FERMATA_CHECKS_OUT",
        .default_text = "",
        .meaning =
            "A folder in which each test process writes the ids of the invariants that it checked.",
        .read = nullptr},
    Variable{
        .name = "FERMATA_CHECK_DETERMINISM",
        .default_text = "64",
        .meaning =
            "Execute every Nth run twice, the second time with a shifted heap and other stacks, "
            "and compare the two step by step; 0: never. `twin` or `twin:N`: also repeat those "
            "runs in a process with another memory layout, environment and locale.",
        .read = read_check_determinism},
    Variable{.name = "FERMATA_CORPUS",
             .default_text = "",
             .meaning =
                 "A folder of tapes; each test replays its tapes before it is explored. With "
                 "`fleet fuzz` and `fleet result`: of inputs, to begin with or to write.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{.name = "FERMATA_DISABLED",
             .default_text = "off",
             .meaning = "`on`: also run tests whose names begin with `DISABLED_`.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{
        .name = "FERMATA_DISK",
        .default_text = "off",
        .meaning =
            "`on`: a replay prints the files of each machine, as programs see them and as a crash "
            "would leave them.",
        .read = [](Options& options,
                   std::string_view text) { options.shows_disk = parse_switch(text); }},
    Variable{.name = "FERMATA_EXPLAIN",
             .default_text = "auto",
             .meaning = "Explain a failing run: its steps, the deciding decision, the nearest "
                        "passing run. `auto`: when it was found by exploring; `on`: also in a "
                        "replay, with the functions that were suspended; `off`: never.",
             .read = [](Options& options,
                        std::string_view text) { options.explain = parse_when(text); }},
    Variable{.name = "FERMATA_FAULTS",
             .default_text = "all",
             .meaning = "Faults that the simulated world may have: `all`, `none`, or a "
                        "comma-separated list, such as `delay,reset`; `all,-busy` is all but one.",
             .read =
                 [](Options& options, std::string_view text) {
                   options.faults = FaultSet::parse(text);
                   options.faults_text = text;
                 }},
    Variable{.name = "FERMATA_FILTER",
             .default_text = "*",
             .meaning = "Tests to run, as a GoogleTest filter: patterns with `*` and `?`, "
                        "separated by `:`; patterns after `-` exclude tests.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{
        .name = "FERMATA_FIRST_RUN",
        .default_text = "0",
        .meaning = "The number of the first run, counted from 0, to explore a part of all runs.",
        .read = [](Options& options,
                   std::string_view text) { options.first_run = parse_count(text); }},
    Variable{.name = "FERMATA_FUZZ",
             .default_text = "",
             .meaning = "`Suite.Name`: fuzz this test. The program must be linked with the fuzzer, "
                        "and takes the fuzzer's arguments; any other program refuses.",
             .read =
                 [](Options& options, std::string_view text) {
                   if (text.empty()) throw UsageError("expected Suite.Name");
                   options.fuzz = text;
                 }},
    Variable{.name = "FERMATA_GUARD",
             .default_text = "fail",
             .meaning = "What happens when simulated code asks the real world for the time, random "
                        "numbers, a thread or a sleep: `fail`, the run fails; `warn`, a line on "
                        "standard error; `off`, nothing.",
             .read =
                 [](Options& options, std::string_view text) {
                   constexpr std::array<std::string_view, 3> kChoices = {"fail", "warn", "off"};
                   options.guard.mode =
                       static_cast<detail::GuardMode>(parse_choice(text, kChoices));
                 }},
    Variable{.name = "FERMATA_GUARD_ALLOW",
             .default_text = "",
             .meaning = "A comma-separated list of functions that simulated code may call all the "
                        "same, such as `clock_gettime,time`.",
             .read =
                 [](Options& options, std::string_view text) {
                   options.guard.allowed = detail::GuardOptions::parse_allowed(text);
                 }},
    Variable{.name = "FERMATA_INSTANT_LIMIT",
             .default_text = "500000",
             .meaning = "A run in which one machine makes more steps and timers than this without "
                        "virtual time passing is a livelock.",
             .read =
                 [](Options& options, std::string_view text) {
                   options.limits.steps_at_instant = parse_positive(text);
                 }},
    Variable{.name = "FERMATA_JOBS",
             .default_text = "",
             .meaning = "Number of processes that explore in parallel; by default as many as there "
                        "are processors.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{.name = "FERMATA_JSON",
             .default_text = "",
             .meaning = "Write the result as JSON lines to this file.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{.name = "FERMATA_JUNIT",
             .default_text = "",
             .meaning = "Write the result as JUnit XML to this file.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{
        .name = "FERMATA_KEEP_GOING",
        .default_text = "off",
        .meaning =
            "`on`: explore on after a failure, and keep the run of fewest steps of each signature.",
        .read = [](Options& options,
                   std::string_view text) { options.keep_going = parse_switch(text); }},
    Variable{.name = "FERMATA_LAYOUT",
             .default_text = "plain",
             .meaning = "How `fleet result` writes a corpus: `plain`, or `afl` for AFL++ to sync "
                        "with.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{.name = "FERMATA_LEASE",
             .default_text = "60s",
             .meaning = "How long a worker of a fleet may be silent before others do its chunk.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{.name = "FERMATA_LISTEN",
             .default_text = "127.0.0.1:0",
             .meaning = "The address at which `fleet watch` serves its page; port 0: a free one.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{.name = "FERMATA_MEMORY_LIMIT",
             .default_text = "",
             .meaning = "Address space of each process, such as `512M` or `2G`.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{.name = "FERMATA_NAMES",
             .default_text = "on",
             .meaning = "Whether reports name the functions of stacks, which `addr2line` looks up.",
             .read = [](Options& options,
                        std::string_view text) { options.names = parse_switch(text); }},
    Variable{
        .name = "FERMATA_NETWORK",
        .default_text = "off",
        .meaning =
            "`on`: a replay prints the connections, with the bytes that were sent, have arrived, "
            "are lost and are in flight.",
        .read = [](Options& options,
                   std::string_view text) { options.shows_network = parse_switch(text); }},
    Variable{.name = "FERMATA_OBLIGATIONS",
             .default_text = "program",
             .meaning = "Which tests must satisfy each FERMATA_SOMETIMES and reach each "
                        "FERMATA_REACHABLE: `program`, all simulated tests of the program "
                        "together, judged when all of them are run; `test`, also each test on its "
                        "own, for the assertions that it reaches; `off`, none.",
             .read =
                 [](Options& options, std::string_view text) {
                   constexpr std::array<std::string_view, 3> kChoices = {"program", "test", "off"};
                   options.obligations = static_cast<Obligations>(parse_choice(text, kChoices));
                 }},
    Variable{
        .name = "FERMATA_OUT",
        .default_text = "fermata-out",
        .meaning = "The folder for tapes of failing runs.",
        .read = [](Options& options, std::string_view text) { options.out = parse_path(text); }},
    Variable{.name = "FERMATA_PARTIAL",
             .default_text = "off",
             .meaning = "`on`: `fleet result` merges what there is of a plan that is not complete.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{.name = "FERMATA_PARTITION",
             .default_text = "",
             .meaning = "Slurm's partition for the workers of a fleet; by default Slurm's own.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{.name = "FERMATA_PLAN",
             .default_text = "",
             .meaning = "The folder for the plan of a fleet, on storage that all workers share.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{.name = "FERMATA_PRINT",
             .default_text = "off",
             .meaning = "`on`: `fleet slurm` prints its script, and neither writes nor submits it.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{.name = "FERMATA_PROGRAM",
             .default_text = "",
             .meaning =
                 "The test program to replay a tape with, instead of the one that the tape names.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{
        .name = "FERMATA_REPLAY",
        .default_text = "",
        .meaning = "Replay this tape instead of exploring.",
        .read = [](Options& options, std::string_view text) { options.replay = parse_path(text); }},
    Variable{.name = "FERMATA_REPLAY_MODE",
             .default_text = "strict",
             .meaning = "`strict`: the first draw that differs from the tape is an error. `best`: "
                        "decisions that match are applied, all other draws are calm.",
             .read =
                 [](Options& options, std::string_view text) {
                   const bool best = parse_either(text, "strict", "best");
                   options.replay_mode = best ? ReplayMode::Best : ReplayMode::Strict;
                 }},
    Variable{.name = "FERMATA_REPORT",
             .default_text = "auto",
             .meaning = "Write the report of a replay to this file: an HTML page, or what "
                        "FERMATA_REPORT_FORMAT says. `auto`: only for a failure that was found by "
                        "exploring, beside its tape. `off`: no report.",
             .read =
                 [](Options& options, std::string_view text) {
                   options.reports = text != "off";
                   options.report = text == "off" || text == "auto" ? "" : parse_path(text);
                 }},
    Variable{
        .name = "FERMATA_REPORT_FORMAT",
        .default_text = "",
        .meaning =
            "`html`, `chrome` (a trace for Perfetto), `pcap` (the messages between machines) or "
            "`json`; by default what the extension of the file says, and `html` beside a tape.",
        .read = [](Options& options,
                   std::string_view text) { options.report_format = parse_report_format(text); }},
    Variable{.name = "FERMATA_RESUME",
             .default_text = "off",
             .meaning = "`on`: resume the interrupted exploration in the output folder.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{
        .name = "FERMATA_RUNS",
        .default_text = "1000",
        .meaning = "Number of schedules that each test explores; 1 when only FERMATA_SEED is set.",
        .read = [](Options& options,
                   std::string_view text) { options.runs = parse_positive(text); }},
    Variable{
        .name = "FERMATA_SEED",
        .default_text = "1",
        .meaning = "The seed: decimal digits, `0x` hex or exactly 40 hex digits (a commit). Alone: "
                   "exactly this run. With FERMATA_RUNS: the base of that many runs.",
        .read = [](Options& options, std::string_view text) { options.seed = parse_seed(text); }},
    Variable{.name = "FERMATA_SHARD",
             .default_text = "",
             .meaning = "`i/n`: explore the i-th of n parts.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{.name = "FERMATA_SHARDS",
             .default_text = "",
             .meaning = "Number of shards, when JOB_COMPLETION_INDEX holds the index of this one.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{
        .name = "FERMATA_SHRINK",
        .default_text = "auto",
        .meaning = "Shrink a failing run to a smaller one with the same signature. `auto`: when it "
                   "was found by exploring; `on`: also in a replay, which writes the smaller tape "
                   "beside the one it replays; `off`: never.",
        .read = [](Options& options, std::string_view text) { options.shrink = parse_when(text); }},
    Variable{
        .name = "FERMATA_SHRINK_RUNS",
        .default_text = "500",
        .meaning = "Stop shrinking after this many runs in a row without a smaller failing run.",
        .read = [](Options& options,
                   std::string_view text) { options.shrink_runs = parse_positive(text); }},
    Variable{.name = "FERMATA_STEP_LIMIT",
             .default_text = "1000000",
             .meaning = "A run of more steps than this is a livelock.",
             .read = [](Options& options,
                        std::string_view text) { options.limits.steps = parse_positive(text); }},
    Variable{
        .name = "FERMATA_STRATEGY",
        .default_text = "portfolio",
        .meaning =
            "How the next coroutine is chosen: `portfolio` (the following ones in turn), `random`, "
            "`urw` (every interleaving equally likely), `pos` (every order of dependent steps), "
            "`pct:D` (priorities with D-1 changes), `delay:D` (production's order with D delays), "
            "`fifo` (production's order; only the outside world varies), `dfs` (every schedule, in "
            "a calm world), `dfs:N` (schedules with at most N picks unlike production's), `calm` "
            "(nothing varies), `bytes:HEX` (an input that a fuzzer found).",
        .read = [](Options& options,
                   std::string_view text) { options.strategy = make_strategy(text)->name(); }},
    Variable{.name = "FERMATA_STRICT_POSIX",
             .default_text = "off",
             .meaning = "`on`: refuse a program whose foreign libraries import functions of the C "
                        "library that are not served, or unknown; `fermata inspect` lists them.",
             .read = [](Options& options,
                        std::string_view text) { options.imports.strict = parse_switch(text); }},
    Variable{.name = "FERMATA_TASKS",
             .default_text = "4",
             .meaning = "Number of tasks in the array that `fleet slurm` submits.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{.name = "FERMATA_TIME",
             .default_text = "",
             .meaning = "How long to explore, in real time; reaching the end is a pass. Of a plan: "
                        "how long all its workers together.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{.name = "FERMATA_TIME_LIMIT",
             .default_text = "24h",
             .meaning = "A run that takes longer than this, in virtual time, is a livelock. Units: "
                        "ns, us, ms, s, min, h.",
             .read = [](Options& options,
                        std::string_view text) { options.limits.time = parse_duration(text); }},
    Variable{
        .name = "FERMATA_TRACE",
        .default_text = "off",
        .meaning =
            "`all`: reports show every step, however long they become. `steps`: the trace hash "
            "after each step of a failing run is written next to its tape.",
        .read = [](Options& options, std::string_view text) { options.trace = parse_trace(text); }},
    Variable{.name = "FERMATA_TWIN",
             .default_text = "",
             .meaning = "With FERMATA_CHECK_DETERMINISM=twin: the same test program, built by "
                        "another compiler or with other options, to compare with as well.",
             .read = [](Options& options,
                        std::string_view text) { options.twin_program = parse_path(text); }},
    Variable{
        .name = "FERMATA_UNTIL_STABLE",
        .default_text = "",
        .meaning =
            "Stop exploring a test when less than this share of its runs, such as `1%`, is new.",
        .read = nullptr,
        .reader = Reader::Tool},
    Variable{.name = "FERMATA_VERBOSE",
             .default_text = "off",
             .meaning = "`on`: also print the program, faults and limits first, and for each test "
                        "the faults of its first run; `fermata inspect`: also name the functions "
                        "that are served or pass.",
             .read = nullptr,
             .reader = Reader::Tool},
    Variable{
        .name = "FERMATA_WALL_LIMIT",
        .default_text = "60s",
        .meaning = "A run that takes longer than this, in real time, hangs: its process is killed.",
        .read = nullptr,
        .reader = Reader::Tool},
};

/// What a process tells those that it starts: no business of users, and in none of their tables.
constexpr std::array kInternalVariables = {
    Variable{
        .name = "FERMATA_INTERNAL_ALL_RUNS",
        .default_text = "",
        .meaning =
            "Set by `fermata` for the processes it starts: how many runs all of them are to make "
            "together; 0 when nobody knows.",
        .read = [](Options& options,
                   std::string_view text) { options.all_runs = parse_count(text); }},
    Variable{
        .name = "FERMATA_INTERNAL_BOARD",
        .default_text = "",
        .meaning =
            "Set by `fermata` for the processes it starts: the file that shows which run goes on.",
        .read = [](Options& options, std::string_view text) { options.status = parse_path(text); }},
    Variable{
        .name = "FERMATA_INTERNAL_CONFIRM",
        .default_text = "",
        .meaning =
            "Set by a test process for the fresh one in which it runs a failure again: the file "
            "for what came of it.",
        .read = [](Options& options,
                   std::string_view text) { options.confirm = parse_path(text); }},
    Variable{
        .name = "FERMATA_INTERNAL_EVENTS",
        .default_text = "",
        .meaning =
            "Set by `fermata` for the processes it starts: the file for what they have to tell.",
        .read = [](Options& options, std::string_view text) { options.events = parse_path(text); }},
    Variable{
        .name = "FERMATA_INTERNAL_LIST",
        .default_text = "",
        .meaning = "Set by `fermata`: the file for the list of simulated tests; none is run.",
        .read = [](Options& options, std::string_view text) { options.list = parse_path(text); }},
    Variable{
        .name = "FERMATA_INTERNAL_POST_MORTEM",
        .default_text = "",
        .meaning =
            "Set by `fermata`: the last of the runs ends its process, or takes longer than this; "
            "it is made again in processes of its own, and made small.",
        .read =
            [](Options& options, std::string_view text) {
              options.crash_limit =
                  std::chrono::duration_cast<std::chrono::milliseconds>(parse_duration(text));
            }},
    Variable{
        .name = "FERMATA_INTERNAL_REPEATABLE",
        .default_text = "",
        .meaning =
            "Set by `fermata fleet`: the search for a smaller crash is limited by its runs, not by "
            "real time, and what the process has printed is left out.",
        .read = [](Options& options,
                   std::string_view text) { options.repeatable = parse_switch(text); }},
    Variable{
        .name = "FERMATA_INTERNAL_TWIN_TASK",
        .default_text = "",
        .meaning =
            "Set by a test process for its twin: the files for what to do and for what came of it.",
        .read = [](Options& options,
                   std::string_view text) { options.twin_task = parse_path(text); }},
};

/// CMake's, for find_package; and the runtime's own (fermata/drivers/factory.hpp).
constexpr std::string_view kForeign[] = {"FERMATA_ROOT", "FERMATA_DIR", "FERMATA_LOOP"};

template <class Range>
bool contains(const Range& range, std::string_view name) {
  return std::find(std::begin(range), std::end(range), name) != std::end(range);
}

void read_variable(Options& options, std::string_view name, std::string_view text) {
  if (contains(kForeign, name)) return;
  const Variable* const found = find_variable(name);
  if (found == nullptr) {
    throw UsageError(fmt::format("unknown variable {}; docs/environment.md lists them{}", name,
                                 suggested_variable(name)));
  }
  if (found->read == nullptr) return;
  try {
    found->read(options, text);
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}: {}", name, error.what()));
  }
}

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};
constexpr std::array<Unit, 6> kUnits = {
    Unit{"h", 3'600'000'000'000}, Unit{"min", 60'000'000'000}, Unit{"s", 1'000'000'000},
    Unit{"ms", 1'000'000},        Unit{"us", 1'000},           Unit{"ns", 1}};

}  // namespace

std::span<const Variable> variables() noexcept { return kVariables; }
std::span<const Variable> internal_variables() noexcept { return kInternalVariables; }

const Variable* find_variable(std::string_view name) noexcept {
  FERMATA_ASSERT(name.starts_with(kPrefix));
  for (const std::span<const Variable> table : {variables(), internal_variables()}) {
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const Variable& v) { return v.name == name; });
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

std::string suggested_variable(std::string_view name) {
  FERMATA_ASSERT(name.starts_with(kPrefix));
  std::vector<std::string_view> names;
  for (const Variable& variable : variables()) {
    names.push_back(variable.name.substr(kPrefix.size()));
  }
  const std::optional<std::string_view> meant = nearest(name.substr(kPrefix.size()), names);
  return meant ? fmt::format("; did you mean {}{}?", kPrefix, *meant) : std::string();
}

Options read_environment(const char* const* environment) {
  FERMATA_ASSERT(environment != nullptr);
  Options options;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.substr(0, kPrefix.size()) != kPrefix) continue;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    read_variable(options, entry.substr(0, equals), entry.substr(equals + 1));
  }
  return options;
}

const Options& process_options() {
  static const Options options = [] {
    Options read = read_environment(::environ);
    if (read.break_at != 0) detail::require_debugger(read.replay);
    return read;
  }();
  return options;
}

std::string environment_document() {
  std::string text =
      "# Environment variables\n\n"
      "What a test process and the tool `fermata` read; the tool has a flag for each, which wins:\n"
      "`--time-limit` for `FERMATA_TIME_LIMIT`. Those that say \"tool\" mean nothing to a test\n"
      "process that is started without it. A name that begins with `FERMATA_` and is not listed\n"
      "here is an error (exit code 1), so that a slip of the pen cannot pass silently; CMake's\n"
      "`FERMATA_ROOT` and `FERMATA_DIR` are left alone, and `FERMATA_LOOP`, by which programs "
      "choose\n"
      "a driver: `uv`, `ev`, `event`, `select`, `pselect` or `epoll`; see "
      "`loop::choose_driver`.\n"
      "Names that begin with `FERMATA_INTERNAL_` are set by these processes for each other.\n\n"
      "| variable | default | meaning |\n|---|---|---|\n";
  for (const Variable& variable : variables()) {
    const std::string fallback =
        variable.default_text.empty() ? "" : fmt::format("`{}`", variable.default_text);
    text += fmt::format("| `{}` | {} | {}{} |\n", variable.name, fallback,
                        variable.reader == Reader::Tool ? "(tool) " : "", variable.meaning);
  }
  return text;
}

bool parse_switch(std::string_view text) { return parse_either(text, "off", "on"); }

Duration parse_duration(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view unit_name = text.substr(digits);
  const auto* unit = std::find_if(kUnits.begin(), kUnits.end(),
                                  [&](const Unit& u) { return u.name == unit_name; });
  std::int64_t count = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + digits, count);
  std::int64_t nanoseconds = 0;
  if (digits == 0 || error != std::errc() || unit == kUnits.end() || count == 0 ||
      __builtin_mul_overflow(count, unit->nanoseconds, &nanoseconds)) {
    throw UsageError(fmt::format(
        "'{}' is not a valid duration; expected a positive number and ns, us, ms, s, min or h",
        text));
  }
  FERMATA_ASSERT(nanoseconds > 0);
  return Duration(nanoseconds);
}

std::string duration_text(Duration duration) {
  const auto* unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) {
    return duration.count() % u.nanoseconds == 0;
  });
  FERMATA_ASSERT(unit != kUnits.end());
  return fmt::format("{}{}", duration.count() / unit->nanoseconds, unit->name);
}

}  // namespace fermata::sim
