// SPDX-License-Identifier: Apache-2.0

// Random scripts of system calls, on Linux and in a world that is calm: both must answer alike.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "fermata/base/sanitizer.hpp"
#include "fermata/posix/kernel.hpp"
#include "tests/posix/scripts/comparison.hpp"
#include "tests/posix/scripts/file_script.hpp"
#include "tests/posix/scripts/script.hpp"
#include "tests/posix/scripts/signal_script.hpp"

namespace fermata::test {
namespace {

#ifdef FERMATA_ASAN
constexpr std::uint64_t kScripts = 500;
#else
constexpr std::uint64_t kScripts = 3000;
#endif

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

}  // namespace

TEST(Differential, LinuxAndTheWorldAnswerScriptsAlike) {
  if (!linux_is_recent()) GTEST_SKIP() << "the world answers like Linux 6.10 and later";
  const auto draw = [has_ipv6 = linux_has_ipv6()](std::uint64_t number) {
    Script script = draw_script(number);
    if (!has_ipv6 && script.front().ipv6) script.clear();
    return script;
  };
  compare_with_linux({.draw = draw, .prepare = [] {}, .scripts = kScripts});
}

TEST(Differential, LinuxAndTheWorldAnswerScriptsOfFilesAlike) {
  if (!linux_is_recent()) GTEST_SKIP() << "the world answers like Linux 6.10 and later";
  if (::geteuid() != 0) GTEST_SKIP() << "the world allows what Linux allows root";
  std::string place = ::testing::TempDir() + "differential-XXXXXX";
  ASSERT_NE(::mkdtemp(place.data()), nullptr);
  compare_with_linux({.draw = draw_file_script,
                      .prepare = [&] { prepare_files(posix::serving != nullptr ? "/" : place); },
                      .scripts = kScripts});
  std::filesystem::remove_all(place);
}

TEST(Differential, LinuxAndTheWorldAnswerScriptsOfSignalsAlike) {
  if (!linux_is_recent()) GTEST_SKIP() << "the world answers like Linux 6.10 and later";
  compare_with_linux({.draw = draw_signal_script, .prepare = prepare_signals, .scripts = kScripts});
}

}  // namespace fermata::test
