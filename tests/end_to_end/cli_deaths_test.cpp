// SPDX-License-Identifier: Apache-2.0

// Runs that end their process, in every way and from every place: `fermata run` comes to its end,
// says where it was, and prints a line that dies again. The specimens are disabled, since they die;
// the tool runs this very program with one of them.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include "fermata/uv/reactor.hpp"
#include "tests/end_to_end/cli_specimens.hpp"

// Outside of namespace fermata, as the code of users is, so that stacks have these names.
namespace deaths {

[[gnu::noinline]] void of_a_wild_pointer() {
  volatile std::uintptr_t nowhere = 64;
  *reinterpret_cast<volatile int*>(nowhere) = 1;
}

constexpr int kDepthNeverReached = 1'000'000'000;
[[gnu::noinline]] int of_a_stack_overflow(int depth) {
  volatile char frame[512];
  frame[0] = static_cast<char>(depth);
  if (depth == kDepthNeverReached) return 0;
  return of_a_stack_overflow(depth + 1) + frame[0];
}

[[gnu::noinline]] void of_abort() { std::abort(); }

#if defined(__clang__)
[[clang::no_sanitize("undefined")]]
#endif
[[gnu::noinline]] void
of_a_division() {
  volatile int zero = 0;
  volatile int quotient = 7 / zero;
  static_cast<void>(quotient);
}

/// Dies of SIGBUS: the page is behind the end of its file.
[[gnu::noinline]] void of_a_missing_page() {
  const int file = ::memfd_create("empty", 0);
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  *static_cast<volatile char*>(page) = 1;
}

void fail() { throw 42; }
[[gnu::noinline]] void of_terminate() noexcept { fail(); }

[[gnu::noinline]] void of_an_exit() { ::_exit(3); }
[[gnu::noinline]] void of_a_good_exit() { std::exit(0); }

struct Way {
  const char* name;
  void (*die)();
  int signal;  // 0: it exits.
  const char* place;
};

constexpr Way kWays[] = {
    {"WildPointer", &of_a_wild_pointer, SIGSEGV, "deaths::of_a_wild_pointer"},
    {"StackOverflow", [] { of_a_stack_overflow(0); }, SIGSEGV, "deaths::of_a_stack_overflow"},
    {"Abort", &of_abort, SIGABRT, "deaths::of_abort"},
    {"Division", &of_a_division, SIGFPE, "deaths::of_a_division"},
    {"MissingPage", &of_a_missing_page, SIGBUS, "deaths::of_a_missing_page"},
    {"Terminate", &of_terminate, SIGABRT, "deaths::of_terminate"},
    {"Exit", &of_an_exit, 0, "deaths::of_an_exit"},
    {"GoodExit", &of_a_good_exit, 0, "deaths::of_a_good_exit"},
};

void in_a_coroutine(void (*die)()) {
  auto doomed = fermata::spawn("doomed", [die] {
    fermata::suspend();
    die();
  });
  fermata::await(doomed);
}

void in_another_machine(fermata::sim::World& world, void (*die)()) {
  world.node("doomed", [die] {
    fermata::delay(std::chrono::milliseconds(1));
    die();
  });
  fermata::delay(std::chrono::milliseconds(5));
}

}  // namespace deaths

#define SPECIMENS_OF_DEATH(name, index)                                          \
  SIM_TEST(Specimen, DISABLED_##name##InTheBody) { deaths::kWays[index].die(); } \
  SIM_TEST(Specimen, DISABLED_##name##InACoroutine) {                            \
    deaths::in_a_coroutine(deaths::kWays[index].die);                            \
  }                                                                              \
  SIM_TEST(Specimen, DISABLED_##name##InAnotherMachine) {                        \
    deaths::in_another_machine(world, deaths::kWays[index].die);                 \
  }
SPECIMENS_OF_DEATH(WildPointer, 0)
SPECIMENS_OF_DEATH(StackOverflow, 1)
SPECIMENS_OF_DEATH(Abort, 2)
SPECIMENS_OF_DEATH(Division, 3)
SPECIMENS_OF_DEATH(MissingPage, 4)
SPECIMENS_OF_DEATH(Terminate, 5)
SPECIMENS_OF_DEATH(Exit, 6)
SPECIMENS_OF_DEATH(GoodExit, 7)

/// Dies in its first run only, as what depends on memory may: the file is there from then on.
SIM_TEST(Specimen, DISABLED_DiesOnce) {
  const fermata::sim::AllowNondeterminism allowed;
  const char* mark = std::getenv("DIES_ONCE");
  if (mark == nullptr || ::access(mark, F_OK) == 0) return;
  std::ofstream(mark) << "here";
  std::abort();
}

namespace deaths {
[[gnu::noinline]] void spin() {
  volatile bool endless = true;
  while (endless) {
  }
}
}  // namespace deaths

SIM_TEST(Specimen, DISABLED_Spins) {
  auto other = fermata::spawn("other", [] { fermata::suspend(); });
  fermata::await(other);
  deaths::spin();
}

namespace fermata::testing {
namespace {

#if defined(FERMATA_ASAN)
constexpr bool kSanitizerReports = true;  // It exits instead of dying of most signals.
#else
constexpr bool kSanitizerReports = false;
#endif

class CliDeaths : public Cli, public ::testing::WithParamInterface<deaths::Way> {};

TEST_P(CliDeaths, IsFoundNamedAndRepeatedFromEveryPlace) {
  const deaths::Way& way = GetParam();
  for (const char* place : {"InTheBody", "InACoroutine", "InAnotherMachine"}) {
    const std::string specimen = std::string(way.name) + place;
    const Finished found = run_shell("timeout 20 " + command(specimen, ""));
    EXPECT_EQ(found.exit_code, 9) << specimen << ":\n" << found.output;
    EXPECT_TRUE(says(found, "crash: the test process ")) << specimen;
    EXPECT_TRUE(says(found, std::string("  in ") + way.place)) << specimen;
    const auto lines = lines_with(found.output, "reproduce: FERMATA_SEED=");
    ASSERT_FALSE(lines.empty()) << found.output;
    const Finished again = run_shell("FERMATA_SEED=" + lines.front());
    if (way.signal != 0 && !kSanitizerReports) {
      EXPECT_EQ(again.exit_code, 128 + way.signal);
    }
    EXPECT_EQ(again.output.find("[       OK ]"), std::string::npos) << specimen << again.output;
    EXPECT_EQ(run_shell(tool() + " replay " + lines_with(found.output, "tape: ").at(0)).exit_code,
              9)
        << specimen;
  }
}

TEST_P(CliDeaths, EndsAProgramInProduction) {
  const deaths::Way& way = GetParam();
  const auto die = [&] {
    Runtime runtime(uv::make_reactor());
    runtime.run([&] { deaths::in_a_coroutine(way.die); });
  };
  if (way.signal == 0) {
    EXPECT_EXIT(
        die(), [](int status) { return WIFEXITED(status); }, "");
  } else if (kSanitizerReports) {
    EXPECT_DEATH(die(), "");
  } else {
    EXPECT_EXIT(die(), ::testing::KilledBySignal(way.signal), "");
  }
}

/// Whatever handler was there before the runtime.
TEST_P(CliDeaths, EndsAProgramInProductionWithAFormerHandler) {
  const deaths::Way& way = GetParam();
  if (way.signal == 0) return;
  const auto die = [&](void (*handler)(int), unsigned flags) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = static_cast<int>(flags);
    for (const int signum : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) {
      ::sigaction(signum, &action, nullptr);
    }
    Runtime runtime(uv::make_reactor());
    runtime.run([&] { deaths::in_a_coroutine(way.die); });
  };
  const auto killed = ::testing::KilledBySignal(way.signal);
  EXPECT_EXIT(die([](int) {}, SA_RESETHAND | SA_ONSTACK), killed, "");
  EXPECT_EXIT(die([](int signum) { ::signal(signum, SIG_DFL); }, SA_ONSTACK), killed, "");
  EXPECT_EXIT(die([](int) { ::_exit(7); }, SA_ONSTACK), ::testing::ExitedWithCode(7), "");
}

INSTANTIATE_TEST_SUITE_P(Ways, CliDeaths, ::testing::ValuesIn(deaths::kWays),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_F(Cli, ACrashThatDoesNotComeBackIsReportedWithoutShrinking) {
  const Finished found =
      run_shell("DIES_ONCE=" + folder_ + "/mark timeout 20 " + command("DiesOnce", "--runs 10"));
  EXPECT_EQ(found.exit_code, 9) << found.output;
  EXPECT_TRUE(says(found, "not shrunk: it came back only once; it depends on more"));
}

/// A death has all that a hang has, processes and names of functions, but no waits.
TEST_F(Cli, AHangIsNamedWithinThreeLimits) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  static_cast<void>(run_to(9, "ExitInTheBody", ""));
  const auto death = Clock::now();
  const Finished found = run_to(124, "Spins", "--wall-limit 4s");
  const auto waits = (Clock::now() - death) - (death - begin);
  EXPECT_LE(waits / std::chrono::seconds(4), 4) << "one to find it, three for its post mortem";
  EXPECT_TRUE(says(found, "hang in run 1 of Specimen.DISABLED_Spins: looking for its place"));
  EXPECT_TRUE(says(found, "  in deaths::spin()"));
  EXPECT_TRUE(says(found, "shrunk: "));
}

}  // namespace
}  // namespace fermata::testing
