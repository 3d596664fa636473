// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/arguments.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/suggestion.hpp"
#include "fermata/sim/run/environment.hpp"

namespace fermata::sim::cli {
namespace {

constexpr std::array<std::string_view, 9> kSwitches = {
    "FERMATA_DISABLED", "FERMATA_DISK",         "FERMATA_KEEP_GOING",
    "FERMATA_NETWORK",  "FERMATA_PARTIAL",      "FERMATA_PRINT",
    "FERMATA_RESUME",   "FERMATA_STRICT_POSIX", "FERMATA_VERBOSE"};

/// What a flag without its value stands for; empty: it needs one.
std::string_view implied(std::string_view variable) {
  if (is_switch(variable)) return "on";
  if (variable == "FERMATA_TRACE") return "all";
  return variable == "FERMATA_UNTIL_STABLE" ? "1%" : "";
}

const Variable& known(std::string_view name) {
  return *std::find_if(variables().begin(), variables().end(),
                       [&](const Variable& variable) { return variable.name == name; });
}

/// What test processes read, or other verbs, and `run` has no flag for.
constexpr std::array<std::string_view, 18> kNotOfRun = {
    "FERMATA_AT",          "FERMATA_BREAK_AT", "FERMATA_CHECKS_OUT", "FERMATA_DISK",
    "FERMATA_FIRST_RUN",   "FERMATA_FUZZ",     "FERMATA_LAYOUT",     "FERMATA_LEASE",
    "FERMATA_LISTEN",      "FERMATA_NETWORK",  "FERMATA_PARTIAL",    "FERMATA_PARTITION",
    "FERMATA_PLAN",        "FERMATA_PRINT",    "FERMATA_PROGRAM",    "FERMATA_REPLAY",
    "FERMATA_REPLAY_MODE", "FERMATA_TASKS"};
/// What `run` has a flag for and `fleet plan` has not: a plan goes on
/// after failures, and is shared otherwise.
constexpr std::array<std::string_view, 12> kNotOfPlan = {
    "FERMATA_CORPUS", "FERMATA_JOBS",         "FERMATA_JSON",       "FERMATA_JUNIT",
    "FERMATA_OUT",    "FERMATA_RESUME",       "FERMATA_KEEP_GOING", "FERMATA_SHARD",
    "FERMATA_SHARDS", "FERMATA_UNTIL_STABLE", "FERMATA_VERBOSE",    "FERMATA_TWIN"};

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> variables_of_run() {
  std::vector<std::string> names;
  for (const Variable& variable : variables()) {
    if (!is_among(kNotOfRun, variable.name)) names.emplace_back(variable.name);
  }
  return names;
}

std::vector<std::string> variables_of_plan() {
  std::vector<std::string> names = {"FERMATA_PLAN", "FERMATA_LEASE"};
  for (const std::string& name : variables_of_run()) {
    if (!is_among(kNotOfPlan, name)) names.push_back(name);
  }
  return names;
}

std::vector<std::string> variables_of_fuzz() {
  std::vector<std::string> names = {"FERMATA_CORPUS"};
  for (const std::string& name : variables_of_plan()) {
    if (name != "FERMATA_STRATEGY" && name != "FERMATA_TIME") names.push_back(name);
  }
  return names;
}

/// Refuses names that begin with FERMATA_ and are not in the table: they are typing errors.
void check_environment() {
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string name(text.substr(0, text.find('=')));
    if (!name.starts_with("FERMATA_") || name == "FERMATA_ROOT" || name == "FERMATA_DIR" ||
        name == "FERMATA_LOOP") {
      continue;
    }
    if (find_variable(name) == nullptr) {
      throw UsageError(fmt::format("unknown variable {}; `fermata env` lists them{}", name,
                                   suggested_variable(name)));
    }
  }
}

struct Wanted {
  std::vector<std::string> operands;
  std::map<std::string, std::string> values;
  std::map<std::string, CLI::Option*> options;
};

/// The help of a verb that takes one operand. More are read all the same, for a better error.
class OneOperand : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return without_dots(Formatter::make_usage(app, std::move(name)));
  }
  std::string make_positionals(const CLI::App* app) const override {
    return without_dots(Formatter::make_positionals(app));
  }

 private:
  static std::string without_dots(std::string text) {
    for (const std::string_view dots : {" ...", "..."}) {
      if (const std::size_t at = text.find(dots); at != std::string::npos) {
        return text.erase(at, dots.size());
      }
    }
    return text;
  }
};

/// The subcommand of `verb`, inside of another one when its name has two words.
CLI::App* add_subcommand(CLI::App& tool, const Verb& verb) {
  const std::size_t space = verb.name.find(' ');
  if (space == std::string::npos) return tool.add_subcommand(verb.name, verb.help);
  const std::string group = verb.name.substr(0, space);
  const auto groups =
      tool.get_subcommands([&](const CLI::App* app) { return app->get_name() == group; });
  CLI::App* parent = groups.empty() ? nullptr : groups.front();
  if (parent == nullptr) {
    parent = tool.add_subcommand(group, "explore with many workers, on many machines");
    parent->require_subcommand(1);
  }
  return parent->add_subcommand(verb.name.substr(space + 1), verb.help);
}

void add_verb(CLI::App& tool, const Verb& verb, Wanted& wanted) {
  CLI::App* app = add_subcommand(tool, verb);
  if (!verb.operand.empty()) {
    app->add_option(verb.operand, wanted.operands)->required();
    if (!verb.many) app->formatter(std::make_shared<OneOperand>());
  }
  for (const std::string& name : verb.variables) {
    CLI::Option* option = app->add_option(flag_names(verb, name), wanted.values[name],
                                          std::string(known(name).meaning));
    if (!implied(name).empty()) option->expected(is_switch(name) ? 0 : 0, is_switch(name) ? 0 : 1);
    option->type_name(is_switch(name) ? "" : "TEXT");
    wanted.options[verb.name + name] = option;
  }
}

/// What the first argument that the tool does not know may have been meant as; for the end of a
/// message.
std::string suggested_argument(const char* const* first, const char* const* end) {
  if (first == end) return {};
  std::string name = *first;
  const bool is_group = std::any_of(verbs().begin(), verbs().end(), [&](const Verb& candidate) {
    return candidate.name.starts_with(name + ' ');
  });
  if (is_group && first + 1 != end) name = name + ' ' + *++first;
  const auto verb = std::find_if(verbs().begin(), verbs().end(),
                                 [&](const Verb& candidate) { return candidate.name == name; });
  if (verb == verbs().end()) {
    std::vector<std::string_view> names;
    for (const Verb& each : verbs()) names.emplace_back(each.name);
    return suggestion(name, names);
  }
  std::vector<std::string> flags = {"--help"};
  for (const std::string& variable : verb->variables) flags.push_back(flag_of(variable));
  const std::vector<std::string_view> candidates(flags.begin(), flags.end());
  for (++first; first != end; ++first) {
    const std::string_view argument(*first);
    const std::string_view flag = argument.substr(0, argument.find('='));
    const bool known = std::find(candidates.begin(), candidates.end(), flag) != candidates.end();
    if (flag.starts_with("--") && !known) return suggestion(flag, candidates);
  }
  return {};
}

/// The end of what is for the tool: of `debug` what comes after "--" is not.
const char* const* own_end(int argc, const char* const* argv) {
  const bool for_another = argc > 1 && std::string_view(argv[1]) == "debug";
  return for_another ? std::find(argv, argv + argc, std::string_view("--")) : argv + argc;
}

}  // namespace

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all = {
      Verb{.name = "run",
           .operand = "BIN",
           .many = true,
           .help = "explore the simulated tests of programs; the exit code is the verdict",
           .variables = variables_of_run()},
      Verb{
          .name = "replay",
          .operand = "TAPE|BIN",
          .many = false,
          .help = "replay a tape, or one run of a program, chosen by --filter and --seed",
          .variables = {"FERMATA_FILTER", "FERMATA_SEED", "FERMATA_STRATEGY", "FERMATA_FAULTS",
                        "FERMATA_REPLAY_MODE", "FERMATA_OUT", "FERMATA_PROGRAM", "FERMATA_DISABLED",
                        "FERMATA_BREAK_AT", "FERMATA_REPORT", "FERMATA_REPORT_FORMAT",
                        "FERMATA_TRACE", "FERMATA_NETWORK", "FERMATA_DISK", "FERMATA_AT"}},
      Verb{.name = "shrink",
           .operand = "TAPE",
           .many = false,
           .help = "shrink a tape: write a smaller one, with the same signature, beside it",
           .variables = {"FERMATA_PROGRAM", "FERMATA_SHRINK_RUNS"}},
      Verb{.name = "explain",
           .operand = "TAPE",
           .many = false,
           .help =
               "explain a tape: its steps, the decision that decides, the nearest run that passes",
           .variables = {"FERMATA_PROGRAM", "FERMATA_TRACE", "FERMATA_NETWORK", "FERMATA_DISK",
                         "FERMATA_AT"}},
      Verb{.name = "report",
           .operand = "TAPE",
           .many = false,
           .help = "write the report of a tape to a file: an HTML page, a trace, a packet capture "
                   "or JSON",
           .variables = {"FERMATA_PROGRAM", "FERMATA_REPLAY_MODE", "FERMATA_REPORT",
                         "FERMATA_REPORT_FORMAT"}},
      Verb{.name = "debug",
           .operand = "TAPE",
           .many = false,
           .help = "debug a tape with gdb, which can go back to any step; what comes after `--` "
                   "is for gdb",
           .variables = {"FERMATA_PROGRAM", "FERMATA_BREAK_AT"}},
      Verb{.name = "list",
           .operand = "BIN",
           .many = false,
           .help = "list the simulated tests of a program",
           .variables = {"FERMATA_FILTER", "FERMATA_DISABLED"}},
      Verb{.name = "inspect",
           .operand = "FILE",
           .many = true,
           .help = "tell which functions of the C library a shared library or program imports, and "
                   "which of them are served in the simulated world",
           .variables = {"FERMATA_VERBOSE", "FERMATA_JSON"}},
      Verb{.name = "merge",
           .operand = "DIR",
           .many = true,
           .help = "merge the output folders of shards into the result of one exploration",
           .variables = {"FERMATA_JUNIT", "FERMATA_JSON"}},
      Verb{.name = "fleet plan",
           .operand = "BIN",
           .many = false,
           .help = "write a plan: what many workers are to explore together, in a folder that they "
                   "share",
           .variables = variables_of_plan()},
      Verb{.name = "fleet fuzz",
           .operand = "BIN",
           .many = false,
           .help = "write a plan whose tests are fuzzed by the libFuzzer in the program, with a "
                   "corpus that the workers share",
           .variables = variables_of_fuzz()},
      Verb{.name = "fleet work",
           .operand = "PLAN",
           .many = false,
           .help = "explore chunks of a plan until none is left; any number of workers may do so",
           .variables = {"FERMATA_JOBS", "FERMATA_TIME"}},
      Verb{.name = "fleet status",
           .operand = "PLAN",
           .many = false,
           .help = "tell how far a plan is, who works on it, and what was found",
           .variables = {"FERMATA_JSON"}},
      Verb{.name = "fleet watch",
           .operand = "PLAN",
           .many = false,
           .help = "show on a page how far a plan is: served on loopback, or written to a file",
           .variables = {"FERMATA_LISTEN", "FERMATA_REPORT"}},
      Verb{.name = "fleet result",
           .operand = "PLAN",
           .many = false,
           .help = "merge what all workers have found; the exit code is the verdict",
           .variables = {"FERMATA_JUNIT", "FERMATA_JSON", "FERMATA_PARTIAL", "FERMATA_CORPUS",
                         "FERMATA_LAYOUT"}},
      Verb{.name = "fleet compare",
           .operand = "PLAN",
           .many = true,
           .help = "tell which failures of the second plan are new, which were known to the first, "
                   "and which are gone; the exit code is that of the new ones",
           .variables = {}},
      Verb{.name = "fleet slurm",
           .operand = "PLAN",
           .many = false,
           .help = "write the batch script of an array of workers, and submit it where Slurm is",
           .variables = {"FERMATA_TASKS", "FERMATA_JOBS", "FERMATA_TIME", "FERMATA_PARTITION",
                         "FERMATA_PRINT"}},
      Verb{.name = "env", .operand = "", .many = false, .help = "list all FERMATA_* variables"},
      Verb{.name = "completion",
           .operand = "SHELL",
           .many = false,
           .help = "print a completion script for bash, zsh or fish, or the manual page: man"}};
  return all;
}

std::string flag_of(std::string_view variable) {
  std::string flag = "--";
  for (const char letter : variable.substr(std::string_view("FERMATA_").size())) {
    flag += letter == '_' ? '-' : static_cast<char>(letter - 'A' + 'a');
  }
  return flag;
}

std::string flag_names(const Verb& verb, std::string_view variable) {
  const std::string flag = flag_of(variable);
  if (variable == "FERMATA_VERBOSE") return "-v," + flag;
  const bool writes = verb.name == "report" || verb.name == "fleet watch";
  if (writes && variable == "FERMATA_REPORT") return "-o," + flag;
  if (verb.name == "report" && variable == "FERMATA_REPORT_FORMAT") return "--format," + flag;
  if (verb.name == "debug" && variable == "FERMATA_BREAK_AT") return "--at," + flag;
  return flag;
}

bool is_switch(std::string_view variable) {
  return std::find(kSwitches.begin(), kSwitches.end(), variable) != kSwitches.end();
}

std::string exit_codes() {
  return "0 pass, 1 usage, 2 safety, 3 liveness, 4 deadlock, 5 nondeterminism,\n"
         "6 leak, 7 a SOMETIMES or REACHABLE never held, 8 a replay diverged, 9 a process\n"
         "crashed, 124 a run past its wall limit, 130 interrupted.";
}

Arguments parse_arguments(int argc, const char* const* argv) {
  check_environment();
  CLI::App tool(std::string(kToolPurpose), "fermata");
  tool.require_subcommand(1);
  tool.footer("Exit codes: " + exit_codes());
  Wanted wanted;
  for (const Verb& verb : verbs()) add_verb(tool, verb, wanted);
  const char* const* const end = own_end(argc, argv);
  try {
    tool.parse(static_cast<int>(end - argv), argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      tool.exit(error);
      return {};
    }
    throw UsageError(
        fmt::format("{}{}; see `fermata --help`", error.what(), suggested_argument(argv + 1, end)));
  }
  Arguments arguments;
  arguments.operands = wanted.operands;
  if (end != argv + argc) arguments.further.assign(end + 1, argv + argc);
  const CLI::App* chosen = tool.get_subcommands().front();
  arguments.verb = chosen->get_name();
  if (!chosen->get_subcommands().empty()) {
    arguments.verb += ' ' + chosen->get_subcommands().front()->get_name();
  }
  const auto verb = std::find_if(verbs().begin(), verbs().end(), [&](const Verb& candidate) {
    return candidate.name == arguments.verb;
  });
  if (!verb->many && arguments.operands.size() > 1) {
    throw UsageError(fmt::format("unexpected argument '{}': {} takes one {}", arguments.operands[1],
                                 verb->name, verb->operand));
  }
  for (const std::string& name : verb->variables) {
    const CLI::Option* option = wanted.options[verb->name + name];
    const char* variable = std::getenv(name.c_str());
    if (option->count() > 0) {
      const std::string& value = wanted.values[name];
      arguments.settings[name] = {value.empty() ? std::string(implied(name)) : value,
                                  flag_of(name)};
    } else if (variable != nullptr) {
      arguments.settings[name] = {variable, name};
    }
  }
  return arguments;
}

}  // namespace fermata::sim::cli
