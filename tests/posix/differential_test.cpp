// SPDX-License-Identifier: Apache-2.0

// Random scripts of system calls, on Linux and in a world that is calm: both must answer alike.
//
// SCRIPTS=100000  runs more of them; FIRST_SCRIPT=4711 begins there.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/sanitizer.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"
#include "tests/posix/scripts/real_system.hpp"
#include "tests/posix/scripts/script.hpp"

namespace fermata::test {
namespace {

using Answers = std::vector<Answer>;

#ifdef FERMATA_ASAN
constexpr std::uint64_t kScripts = 500;
#else
constexpr std::uint64_t kScripts = 3000;
#endif

/// How many differences are told before the rest is not run any more.
constexpr std::size_t kMostTold = 5;

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// The world answers like Linux from this version on: before it an eventfd took more than its eight
/// bytes, and an epoll refused all ioctl() by another error.
bool linux_is_recent() {
  constexpr int kMajor = 6;
  constexpr int kMinor = 10;
  utsname system = {};
  ::uname(&system);
  int major = 0;
  int minor = 0;
  const int read = std::sscanf(system.release, "%d.%d", &major, &minor);
  return read == 2 && std::pair(major, minor) >= std::pair(kMajor, kMinor);
}

/// Whether this machine has ::1, which every machine of a world has.
bool linux_has_ipv6() {
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const int descriptor = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  const bool has =
      ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(descriptor);
  return has;
}

/// The scripts from `begin` to `end`; an empty one in place of one that this machine cannot run.
std::vector<Script> draw_scripts(std::uint64_t begin, std::uint64_t end) {
  const bool has_ipv6 = linux_has_ipv6();
  std::vector<Script> scripts;
  for (std::uint64_t i = begin; i < end; ++i) {
    scripts.push_back(draw_script(i));
    if (!has_ipv6 && scripts.back().front().ipv6) scripts.back().clear();
  }
  return scripts;
}

/// What is under way arrives between the steps.
Answers perform_in_world(const Script& script) {
  constexpr useconds_t kLong = 10'000;
  const auto strategy = sim::make_strategy("fifo");
  sim::Decisions decisions(*strategy);
  sim::WorldOptions options;
  options.faults = sim::FaultSet::none();
  sim::World world(decisions, options);
  Answers answers;
  world.node("main", [&] { answers = perform(script, [] { ::usleep(kLong); }); });
  world.run();
  if (world.failure()) ADD_FAILURE() << world.failure()->message;
  return answers;
}

bool alike(const Answers& a, const Answers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Answer& x, const Answer& y) {
    return x.call == y.call && x.result == y.result;
  });
}

// The system gets some time between the steps: what was only late does not count.
bool differs(const Script& script) {
  return !alike(perform_on_linux({&script, 1}, true)[0], perform_in_world(script));
}

/// Without what the difference does not need.
Script shrunk(Script script) {
  for (std::size_t part = script.size() / 2; part > 0; part /= 2) {
    for (std::size_t at = script.size(); at >= part; --at) {
      Script shorter = script;
      const auto begin = shorter.begin() + static_cast<std::ptrdiff_t>(at - part);
      shorter.erase(begin, begin + static_cast<std::ptrdiff_t>(part));
      if (!differs(shorter)) continue;
      script = std::move(shorter);
      at = std::min(at, script.size() + 1);
    }
  }
  return script;
}

std::string comparison(const Script& script) {
  const Answers real = perform_on_linux({&script, 1}, true)[0];
  const Answers simulated = perform_in_world(script);
  std::string text;
  for (std::size_t i = 0; i < real.size(); ++i) {
    text += "  " + real[i].call + ": " + real[i].result;
    if (i < simulated.size() && simulated[i].result != real[i].result) {
      text += "   <-- in the world: " + simulated[i].result;
    }
    text += "\n";
  }
  return text;
}

TEST(Differential, LinuxAndTheWorldAnswerScriptsAlike) {
  if (!linux_is_recent()) GTEST_SKIP() << "the world answers like Linux 6.10 and later";
  constexpr std::uint64_t kBatch = 250;
  const std::uint64_t first = number_from_environment("FIRST_SCRIPT", 0);
  const std::uint64_t end = first + number_from_environment("SCRIPTS", kScripts);
  std::size_t told = 0;
  for (std::uint64_t begin = first; begin < end && told < kMostTold; begin += kBatch) {
    const std::vector<Script> scripts = draw_scripts(begin, std::min(begin + kBatch, end));
    const std::vector<Answers> real = perform_on_linux(scripts, false);
    for (std::size_t i = 0; i < scripts.size() && told < kMostTold; ++i) {
      if (alike(real[i], perform_in_world(scripts[i])) || !differs(scripts[i])) continue;
      ++told;
      ADD_FAILURE() << "script " << begin + i << ":\n" << comparison(shrunk(scripts[i]));
    }
  }
}

}  // namespace
}  // namespace fermata::test
