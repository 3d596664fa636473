// SPDX-License-Identifier: Apache-2.0

// Each way in which a run can depend on what no tape has, and who finds it: the guard, the twin in
// the same process, or the twin in another one. The specimens are disabled, since they fail.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <sys/random.h>

#include <array>
#include <chrono>
#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fermata/base/sanitizer.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/run/reproduce.hpp"
#include "tests/meta/process.hpp"

namespace fermata::testing {
namespace {

using namespace std::chrono_literals;

/// Makes all of a number visible in the schedule, a digit at a time: of addresses that are random
/// any few bits may agree.
void depend_on(std::uint64_t number) {
  constexpr std::uint64_t kBase = 16;
  do {
    auto dependent = spawn("dependent", [digit = number % kBase] {
      for (std::uint64_t i = 0; i < digit; ++i) suspend();
    });
    await(dependent);
    number /= kBase;
  } while (number > 0);
}

int some_global = 0;

SIM_TEST(Leak, DISABLED_HeapAddress) {
  const auto block = std::make_unique<char[]>(600);
  depend_on(reinterpret_cast<std::uintptr_t>(block.get()) >> 4);
}

SIM_TEST(Leak, DISABLED_HashOrder) {
  std::vector<std::unique_ptr<std::array<char, 700>>> blocks;
  std::unordered_map<const void*, std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 40; ++i) {
    blocks.push_back(std::make_unique<std::array<char, 700>>());
    numbers.emplace(blocks.back().get(), i);
  }
  for (const auto& [address, number] : numbers) depend_on(number);
}

SIM_TEST(Leak, DISABLED_HeapContent) {
  struct Free {
    void operator()(void* block) const { std::free(block); }
  };
  const std::unique_ptr<void, Free> block(std::malloc(1'000));
  const auto* bytes = static_cast<const unsigned char*>(block.get());
  asm volatile("" : "+r"(bytes) : : "memory");  // The compiler cannot know that nobody wrote it.
  depend_on(bytes[500]);
}

SIM_TEST(Leak, DISABLED_GlobalAddress) {
  depend_on(reinterpret_cast<std::uintptr_t>(&some_global) >> 12);
}

SIM_TEST(Leak, DISABLED_Environment) {
  const char* home = std::getenv("HOME");
  depend_on(home != nullptr ? std::strlen(home) : 0);
}

SIM_TEST(Leak, DISABLED_Locale) { depend_on(MB_CUR_MAX); }

SIM_TEST(Leak, DISABLED_TimeZone) {
  ::tzset();
  depend_on(static_cast<std::uint64_t>(::timezone / 3'600 + 24));
}

SIM_TEST(Leak, DISABLED_SystemClock) {
  const auto reader = spawn("reader", [] {
    static_cast<void>(std::chrono::system_clock::now());
    suspend();
  });
  await(reader);
}

SIM_TEST(Leak, DISABLED_CTime) { depend_on(static_cast<std::uint64_t>(std::time(nullptr))); }

SIM_TEST(Leak, DISABLED_RandomDevice) { depend_on(std::random_device{}()); }

SIM_TEST(Leak, DISABLED_SystemRandom) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) < 0) return;
  depend_on(number);
}

SIM_TEST(Leak, DISABLED_Thread) {
  int from_thread = 0;
  try {
    std::thread([&] { from_thread = 1; }).join();
  } catch (const std::system_error&) {
  }
  depend_on(static_cast<std::uint64_t>(from_thread));
}

SIM_TEST(Leak, DISABLED_Sleep) { std::this_thread::sleep_for(1h); }

SIM_TEST(Leak, DISABLED_Allowed) {
  const sim::AllowNondeterminism allowed;
  static_cast<void>(std::chrono::steady_clock::now());
}

SIM_TEST(Leak, DISABLED_Nothing) { depend_on(random(50)); }

/// Some run makes all that come behind it longer.
SIM_TEST(Leak, DISABLED_ForLaterRuns) {
  static int left_behind = 0;
  depend_on(static_cast<std::uint64_t>(left_behind));
  if (random(150) == 1) left_behind = 7;
}

/// No run is another one for what it has left itself: each is the same when it is made twice.
SIM_TEST(Leak, DISABLED_ForOtherRuns) {
  static int left_behind = 0;
  const std::uint64_t kind = random(4);
  if (kind == 0) left_behind = 7;
  if (kind == 1) depend_on(static_cast<std::uint64_t>(left_behind));
}

Finished run_leak(const std::string& name, const std::string& settings = "") {
  const std::string out = "FERMATA_OUT=" + ::testing::TempDir() + "fermata_meta_determinism ";
  return run_shell(out + settings + " " + sim::detail::program_path() +
                   " --gtest_also_run_disabled_tests --gtest_filter=Leak.DISABLED_" + name);
}

void expect_found_by_guard(const std::string& name, const std::string& function,
                           const std::string& coroutine) {
  const Finished found = run_leak(name);
  EXPECT_EQ(found.exit_code, 5) << found.output;
  EXPECT_TRUE(says(found, "nondeterminism: simulated code calls " + function + "\n"));
  EXPECT_TRUE(says(found, "coroutine '" + coroutine + "'"));
  EXPECT_EQ(run_leak(name, "FERMATA_RUNS=1 FERMATA_GUARD_ALLOW=" + function).exit_code, 0) << name;
}

TEST(Guard, FindsClocks) {
  expect_found_by_guard("SystemClock", "clock_gettime", "reader");
  const Finished found = run_leak("CTime");
  EXPECT_EQ(found.exit_code, 5) << found.output;
  EXPECT_TRUE(says(found, "simulated code calls time\n"));
}

TEST(Guard, FindsRandomNumbers) {
  for (const auto& [name, function] :
       {std::pair("RandomDevice", "std::random_device"), std::pair("SystemRandom", "getrandom")}) {
    const Finished found = run_leak(name);
    EXPECT_EQ(found.exit_code, 5) << found.output;
    EXPECT_TRUE(says(found, std::string("simulated code calls ") + function + "\n"));
  }
}

TEST(Guard, FindsAndRefusesThreads) {
  const Finished found = run_leak("Thread");
  EXPECT_EQ(found.exit_code, 5) << found.output;
  EXPECT_TRUE(says(found, "simulated code calls pthread_create\n"));
}

TEST(Guard, FindsAndSkipsSleeps) {
  const Finished found = run_leak("Sleep");
  EXPECT_EQ(found.exit_code, 5) << found.output;
  EXPECT_TRUE(says(found, "sleep\n"));
}

TEST(Guard, LetsPassWhatIsAllowed) {
  EXPECT_EQ(run_leak("Allowed").exit_code, 0);
  const Finished unknown = run_leak("Allowed", "FERMATA_GUARD_ALLOW=clock_gettime,stat");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_TRUE(says(unknown, "FERMATA_GUARD_ALLOW: 'stat' is not a guarded function"));
}

TEST(Guard, WarnsOrKeepsStillWhenToldTo) {
  const Finished warned = run_leak("SystemClock", "FERMATA_GUARD=warn");
  EXPECT_EQ(warned.exit_code, 0) << warned.output;
  EXPECT_EQ(lines_with(warned.output, "fermata: simulated code calls clock_gettime").size(), 1u)
      << warned.output;
  const Finished silent = run_leak("SystemClock", "FERMATA_GUARD=off");
  EXPECT_EQ(silent.exit_code, 0) << silent.output;
  EXPECT_FALSE(says(silent, "clock_gettime"));
}

void expect_named_step(const Finished& found) {
  EXPECT_EQ(found.exit_code, 5) << found.output;
  EXPECT_TRUE(says(found, "the first step that differs is step "));
  EXPECT_TRUE(says(found, "first: +"));
  EXPECT_TRUE(says(found, "second: +"));
  EXPECT_TRUE(says(found, "'dependent' of 'main', "));
  EXPECT_TRUE(says(found, "determinism_test.cpp:"));
}

TEST(TwinInTheSameProcess, FindsAddresses) {
  expect_named_step(run_leak("HeapAddress", "FERMATA_CHECK_DETERMINISM=1"));
}

TEST(TwinInTheSameProcess, FindsHashOrder) {
  expect_named_step(run_leak("HashOrder", "FERMATA_CHECK_DETERMINISM=1"));
}

TEST(TwinInTheSameProcess, FindsMemoryThatWasNeverWritten) {
#ifdef FERMATA_ASAN
  GTEST_SKIP() << "the sanitizer fills its heap the same way each time";
#endif
  expect_named_step(run_leak("HeapContent", "FERMATA_CHECK_DETERMINISM=1"));
}

void expect_found_by_twin(const std::string& name, const std::string& circumstances) {
  EXPECT_EQ(run_leak(name).exit_code, 0) << "only a twin in another process can find " << name;
  const Finished found = run_leak(name, "FERMATA_CHECK_DETERMINISM=twin");
  expect_named_step(found);
  EXPECT_TRUE(says(found, "nondeterminism: the same seed gave another run in another process" +
                              circumstances + "\n"));
  const Finished again = run_shell(line_with(found.output, "reproduce: "));
  EXPECT_EQ(again.exit_code, 5) << again.output;
}

TEST(TwinInAnotherProcess, FindsTheLayoutOfTheProgram) {
  expect_found_by_twin("GlobalAddress", ", with another layout of memory");
}

TEST(TwinInAnotherProcess, FindsTheEnvironment) {
  expect_found_by_twin("Environment", ", with another environment");
}

TEST(TwinInAnotherProcess, FindsTheTimeZone) {
  expect_found_by_twin("TimeZone", ", with another environment");
}

TEST(TwinInAnotherProcess, FindsTheLocale) {
  expect_found_by_twin("Locale", ", with another locale");
}

void expect_found_leak(const std::string& name, const std::string& share) {
  const Finished missed = run_leak(name, "FERMATA_CHECK_DETERMINISM=" + share);
  EXPECT_EQ(missed.exit_code, 0) << missed.output;
  const Finished found = run_leak(name, "FERMATA_CHECK_DETERMINISM=twin:" + share);
  EXPECT_EQ(found.exit_code, 5) << found.output;
  EXPECT_TRUE(says(found, "nondeterminism: state leaks between runs: run ")) << found.output;
  const Finished again = run_shell(line_with(found.output, "reproduce: "));
  EXPECT_EQ(again.exit_code, 5) << again.output;
  EXPECT_TRUE(says(again, "nondeterminism: state leaks between runs: run ")) << again.output;
}

TEST(TwinInAnotherProcess, FindsWhatRunsLeaveForLaterOnes) {
  expect_found_leak("ForLaterRuns", "64");
}

TEST(TwinInAnotherProcess, FindsWhatShowsInAnotherOrderOfRunsOnly) {
  expect_found_leak("ForOtherRuns", "1 FERMATA_RUNS=40");
}

TEST(TwinInAnotherProcess, IsTheSameWhereNothingLeaks) {
  const Finished passed =
      run_leak("Nothing", "FERMATA_TWIN=" + sim::detail::program_path() +
                              " FERMATA_CHECK_DETERMINISM=twin:16 FERMATA_RUNS=200");
  EXPECT_EQ(passed.exit_code, 0) << passed.output;
}

TEST(TwinInAnotherProcess, TellsWhatItCannotUse) {
  const Finished alone = run_leak("Nothing", "FERMATA_TWIN=/bin/true");
  EXPECT_TRUE(says(alone, "FERMATA_TWIN: expected FERMATA_CHECK_DETERMINISM=twin as well"));
  const Finished mute =
      run_leak("Nothing", "FERMATA_TWIN=/bin/true FERMATA_CHECK_DETERMINISM=twin");
  EXPECT_EQ(mute.exit_code, 5) << mute.output;
  EXPECT_TRUE(says(mute, "the process gave no answer"));
  const Finished none =
      run_leak("Nothing", "FERMATA_TWIN=/nonexistent FERMATA_CHECK_DETERMINISM=twin");
  EXPECT_NE(none.exit_code, 0);
  EXPECT_TRUE(says(none, "cannot start /nonexistent"));
}

}  // namespace
}  // namespace fermata::testing
