// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/twin_process.hpp"

#include <fmt/format.h>
#include <sys/personality.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <fstream>
#include <locale>
#include <sstream>
#include <string_view>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/base/whole_file.hpp"

namespace fermata::sim::detail {
namespace {

constexpr std::string_view kFormat = "fermata-twin 1";
constexpr std::string_view kRuns = "runs", kSteps = "steps", kAccount = "account";
constexpr std::uint64_t kVariant = 0x7717;  // Of the shifted heap.

/// What a program may read there and should not depend on.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kOtherVariables = {{
    {"HOME", "/nonexistent/twin"},
    {"LANG", "tr_TR.UTF-8"},
    {"LC_ALL", "C.UTF-8"},
    {"LOGNAME", "twin"},
    {"TZ", "Pacific/Kiritimati"},
    {"USER", "twin"},
    {"COLUMNS", "37"},
    {"FORCE_COLOR", "1"},
}};

/// While it lives programs that are started have their addresses in the same place each time, where
/// the system lets them.
class FixedLayout {
 public:
  explicit FixedLayout(bool fixed) : before_(::personality(kAsk)) {
    if (fixed && before_ >= 0) {
      ::personality(static_cast<unsigned long>(before_) | ADDR_NO_RANDOMIZE);
    }
  }
  FixedLayout(const FixedLayout&) = delete;
  FixedLayout& operator=(const FixedLayout&) = delete;
  ~FixedLayout() {
    if (before_ >= 0) ::personality(static_cast<unsigned long>(before_));
  }

 private:
  static constexpr unsigned long kAsk = 0xffffffff;
  int before_;
};

std::vector<std::string> other_environment(std::vector<std::string> environment) {
  for (const auto& [name, value] : kOtherVariables) {
    const std::string prefix = std::string(name) + '=';
    std::erase_if(environment, [&](const auto& entry) { return entry.starts_with(prefix); });
    environment.push_back(prefix + std::string(value));
  }
  FERMATA_ASSERT(environment.size() >= kOtherVariables.size());
  std::reverse(environment.begin(), environment.end());
  return environment;
}

/// Some locale that is installed here and is not this one.
void take_another_locale() {
  const std::string here = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"tr_TR.UTF-8", "de_DE.UTF-8", "ja_JP.UTF-8", "en_US.UTF-8", "C.UTF-8"}) {
    if (name == here || std::setlocale(LC_ALL, name) == nullptr) continue;
    std::locale::global(std::locale(name));
    return;
  }
}

struct Task {
  std::string what;
  std::uint64_t step = 0;
  std::uint64_t variant = 0;  // Of the heap; 0 for none.
  bool other_locale = false;
  std::vector<TwinRun> runs;
};

Task read_task(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  Task task;
  in >> task.what >> task.step >> task.variant >> task.other_locale;
  TwinRun run;
  while (in >> run.seed >> run.strategy) task.runs.push_back(run);
  const bool known = task.what == kRuns || task.what == kSteps || task.what == kAccount;
  if (line != kFormat || !known) throw UsageError(path + ": expected the task of a twin");
  return task;
}

void answer(const Task& task, const TwinRun& run, Runner& runner, std::ostream& out) {
  const bool shifted = task.variant != 0;
  if (task.what == kSteps) {
    for (const std::uint64_t hash : runner.steps_of(run.seed, shifted)) out << hash << '\n';
  } else if (task.what == kAccount) {
    runner.account_of(run.seed, shifted, task.step).write(out);
  } else {
    FERMATA_ASSERT(task.what == kRuns);
    const RunResult result =
        shifted ? runner.run_shifted(run.seed, task.variant) : runner.run(run.seed);
    out << result.trace_hash << ' ' << result.steps << ' ' << result.end.nanoseconds << ' '
        << result.signature() << '\n';
  }
}

}  // namespace

std::string Circumstances::text() const {
  std::vector<std::string> parts;
  if (memory) parts.emplace_back("another layout of memory");
  if (environment) parts.emplace_back("another environment");
  if (locale) parts.emplace_back("another locale");
  if (!program.empty()) parts.push_back("the build " + program);
  return parts.empty() ? "" : fmt::format(", with {}", fmt::join(parts, " and "));
}

Twin::Twin(std::string test, Settings settings, Circumstances circumstances)
    : test_(std::move(test)),
      settings_(std::move(settings)),
      circumstances_(std::move(circumstances)) {}

std::string Twin::ask(const std::string& what, const std::vector<TwinRun>& runs) const {
  FERMATA_ASSERT(!runs.empty());
  FERMATA_ASSERT(!test_.empty());
  const TemporaryFile task;
  const TemporaryFile answers;
  std::string order =
      fmt::format("{}\n{} {} {}\n", kFormat, what, circumstances_.memory ? kVariant : 0,
                  circumstances_.locale ? 1 : 0);
  for (const TwinRun& run : runs) order += fmt::format("{} {}\n", run.seed, run.strategy);
  write_whole_file(task.path(), order);
  Settings settings = settings_;
  settings.emplace_back("FERMATA_INTERNAL_TWIN_TASK", task.path() + ',' + answers.path());
  if (circumstances_.memory) {
    settings.emplace_back("MALLOC_PERTURB_", "90");
    settings.emplace_back("TWIN_STACK_OFFSET", std::string(11'213, 'x'));
  }
  std::vector<std::string> environment = environment_with(settings);
  if (circumstances_.environment) environment = other_environment(std::move(environment));
  std::vector<std::string> command = arguments_for(test_);
  command.insert(command.begin(),
                 circumstances_.program.empty() ? program_path() : circumstances_.program);
  const FixedLayout fixed(circumstances_.memory);
  run_silently(std::move(command), std::move(environment));
  std::ostringstream text;
  text << std::ifstream(answers.path()).rdbuf();
  if (text.str().empty()) require_room(answers.path());
  return text.str();
}

std::vector<Fingerprint> Twin::results_of(const std::vector<TwinRun>& runs) const {
  std::istringstream in(ask(fmt::format("{} 0", kRuns), runs));
  std::vector<Fingerprint> results;
  Fingerprint result;
  while (in >> result.trace_hash >> result.steps >> result.end >> std::ws &&
         std::getline(in, result.signature)) {
    results.push_back(result);
  }
  FERMATA_ASSERT(results.size() <= runs.size());
  return results;
}

std::vector<std::uint64_t> Twin::steps_of(const TwinRun& run) const {
  std::istringstream in(ask(fmt::format("{} 0", kSteps), {run}));
  std::vector<std::uint64_t> steps;
  std::uint64_t hash = 0;
  while (in >> hash) steps.push_back(hash);
  return steps;
}

StepAccount Twin::account_of(const TwinRun& run, std::uint64_t step) const {
  FERMATA_ASSERT(step > 0);
  std::istringstream in(ask(fmt::format("{} {}", kAccount, step), {run}));
  return StepAccount::read(in);
}

void run_as_twin(const Program& program, const WorldOptions& options, const std::string& path) {
  const std::size_t comma = path.find(',');
  if (comma == std::string::npos) throw UsageError("expected two files with a comma between");
  const Task task = read_task(path.substr(0, comma));
  if (task.other_locale) take_another_locale();
  std::ostringstream out;
  out.imbue(std::locale::classic());  // The other process reads numbers as they are written in C.
  for (const TwinRun& run : task.runs) {
    Runner runner(program, run.strategy, options);
    answer(task, run, runner, out);
  }
  write_whole_file(path.substr(comma + 1), out.str());
}

}  // namespace fermata::sim::detail
