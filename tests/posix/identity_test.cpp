// SPDX-License-Identifier: Apache-2.0

// What a simulated machine is, and what its process knows of itself: the same wherever a test runs.

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iomanip>
#include <sstream>
#include <string>
#include <thread>

#include "fermata/base/sanitizer.hpp"
#include "fermata/core/suspend.hpp"
#include "tests/posix/library/stubborn.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

class Identity : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("desk", std::move(body));
    run();
  }
};

TEST_F(Identity, AMachineHasItsNameAndWhatEachOtherHas) {
  run_alone([] {
    utsname names = {};
    EXPECT_EQ(uname(&names), 0);
    EXPECT_STREQ(names.sysname, "Linux");
    EXPECT_STREQ(names.nodename, "desk");
    EXPECT_EQ(std::thread::hardware_concurrency(), 4u);
    cpu_set_t set;
    EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    EXPECT_EQ(CPU_COUNT(&set), 4);
    CPU_ZERO(&set);
    EXPECT_EQ(pthread_setaffinity_np(pthread_self(), sizeof set, &set), EINVAL);
    EXPECT_EQ(pathconf("/", _PC_NAME_MAX), 255);
    delay(100s);
    struct sysinfo info = {};
    EXPECT_EQ(sysinfo(&info), 0);
    EXPECT_GE(info.uptime, 100);
    EXPECT_EQ(info.totalram, 8UL << 30);
  });
}

TEST_F(Identity, ALibraryFindsTheLimitsOfTheMachine) {
  run_alone([] {
    EXPECT_EQ(stubborn_configuration(_SC_NPROCESSORS_ONLN), 4);
    EXPECT_EQ(stubborn_configuration(_SC_PAGESIZE), sysconf(_SC_PAGESIZE));
#ifndef FERMATA_ASAN  // It asks for them itself.
    EXPECT_EQ(stubborn_limit(RLIMIT_NOFILE), 1024u);
    EXPECT_EQ(stubborn_limit(RLIMIT_STACK), 8UL << 20);
    EXPECT_EQ(stubborn_limit(RLIMIT_CPU), RLIM_INFINITY);
#endif
  });
  EXPECT_EQ(stubborn_configuration(_SC_NPROCESSORS_ONLN), sysconf(_SC_NPROCESSORS_ONLN));
}

TEST_F(Identity, LimitsAreThoseOfTheProcess) {
  rlimit real = {};
  ASSERT_EQ(prlimit(0, RLIMIT_NOFILE, nullptr, &real), 0);
  const auto look = [] {
    rlimit limit = {};
    EXPECT_EQ(prlimit(0, RLIMIT_NOFILE, nullptr, &limit), 0);
    EXPECT_EQ(limit.rlim_cur, 1024u);
    limit = {5, 10};
    EXPECT_EQ(prlimit(0, RLIMIT_NOFILE, &limit, nullptr), 0);
    EXPECT_EQ(dup(0), 3);
    EXPECT_EQ(dup(0), 4);
    EXPECT_EQ(dup(0), -1);
    EXPECT_EQ(errno, EMFILE);
    EXPECT_EQ(dup2(0, 5), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(fcntl(0, F_DUPFD, 5), -1);
    EXPECT_EQ(errno, EINVAL);
    std::array<pollfd, 6> asked;
    asked.fill({.fd = -1, .events = 0, .revents = 0});
    EXPECT_EQ(poll(asked.data(), 5, 0), 0);
    EXPECT_EQ(poll(asked.data(), 6, 0), -1);
    EXPECT_EQ(errno, EINVAL);
    rlimit before = {};
    limit = {6, 6};
    EXPECT_EQ(prlimit(getpid(), RLIMIT_NOFILE, &limit, &before), 0);
    EXPECT_EQ(before.rlim_max, 10u);
    EXPECT_EQ(dup(0), 5);
    limit = {7, 6};
    EXPECT_EQ(prlimit(0, RLIMIT_NOFILE, &limit, nullptr), -1);
    EXPECT_EQ(errno, EINVAL);
    limit = {6, 1025};
    EXPECT_EQ(prlimit(0, RLIMIT_NOFILE, &limit, nullptr), -1);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(prlimit(1, RLIMIT_NOFILE, nullptr, &before), -1);
    EXPECT_EQ(errno, ESRCH);
    limit = {0, 0};
#ifdef FERMATA_ASAN  // It sets them itself.
    EXPECT_EQ(prlimit(0, RLIMIT_CORE, &limit, nullptr), 0);
#else
    EXPECT_EQ(setrlimit(RLIMIT_CORE, &limit), 0);
#endif
    EXPECT_EQ(prlimit(0, RLIMIT_CORE, nullptr, &before), 0);
    EXPECT_EQ(before.rlim_max, 0u);
  };
  world_->node("one", look);
  world_->node("other", look);
  run();
  rlimit now = {};
  ASSERT_EQ(prlimit(0, RLIMIT_NOFILE, nullptr, &now), 0);
  EXPECT_EQ(now.rlim_cur, real.rlim_cur);
}

TEST_F(Identity, TheLogOfTheSystemIsPrinted) {
  ::testing::internal::CaptureStderr();
  run_alone([] {
    syslog(LOG_INFO, "%d and %s", 1, "two");
    openlog("daemon", LOG_PID, LOG_DAEMON);
    EXPECT_EQ(setlogmask(LOG_UPTO(LOG_ERR)), 0xff);
    syslog(LOG_INFO, "nobody reads this");
    errno = ENOENT;
    const std::string why = "failed: %m";  // Which compilers do not know.
    syslog(LOG_ERR, why.c_str(), 0);
    closelog();
  });
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(printed.substr(0, printed.find('\n')), "syslog: program: 1 and two");
  EXPECT_NE(printed.find("syslog: daemon["), std::string::npos) << printed;
  EXPECT_NE(printed.find("]: failed: No such file or directory\n"), std::string::npos) << printed;
  EXPECT_EQ(printed.find("nobody"), std::string::npos) << printed;
}

TEST_F(Identity, SecondsAreCountedInUtc) {
  const std::string before = std::getenv("TZ") == nullptr ? "" : std::getenv("TZ");
  setenv("TZ", "XYZ-5", 1);
  run_alone([] {
    const time_t time = 86'400;
    tm parts = {};
    localtime_r(&time, &parts);
    std::array<char, 100> text = {};
    const std::string format = "%s %%s %Y %Z";  // Of which compilers do not know "%s".
    EXPECT_GT(strftime(text.data(), text.size(), format.c_str(), &parts), 0u);
    EXPECT_STREQ(text.data(), "86400 %s 1970 UTC");
    std::ostringstream out;
    out << std::put_time(&parts, "%H at %s");
    EXPECT_EQ(out.str(), "00 at 86400");
    const std::string widths = "%-s|%_s|%010s|%8s|%-8s|%Es|%^Os|%_-03s|%%8s|%";
    EXPECT_GT(strftime(text.data(), text.size(), widths.c_str(), &parts), 0u);
    EXPECT_STREQ(text.data(), "86400|86400|0000086400|   86400|   86400|86400|86400|86400|%8s|%");
    const std::string endless = "%99999999999s";
    EXPECT_EQ(strftime(text.data(), text.size(), endless.c_str(), &parts), 0u);
  });
  setenv("TZ", before.c_str(), 1);
  if (before.empty()) unsetenv("TZ");
}

TEST_F(Identity, EachProcessBeginsWithoutVariables) {
  const auto look = [] {
    EXPECT_EQ(stubborn_variable("PATH"), nullptr);
    EXPECT_EQ(stubborn_set_variable("PATH", "/nowhere"), 0);
    EXPECT_STREQ(stubborn_variable("PATH"), "/nowhere");
    EXPECT_STRNE(std::getenv("PATH"), "/nowhere") << "the program's own is the real one";
    EXPECT_EQ(stubborn_set_variable("PATH", nullptr), 0);
    EXPECT_EQ(stubborn_variable("PATH"), nullptr);
    EXPECT_EQ(stubborn_set_variable("A=B", "c"), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(stubborn_set_variable("PATH", "/left"), 0);
  };
  world_->node("one", look);
  world_->node("other", look);
  run();
  EXPECT_STREQ(stubborn_variable("PATH"), std::getenv("PATH"));
}

TEST_F(Identity, TheOnlyLocaleIsC) {
  run_alone([] {
    EXPECT_STREQ(stubborn_locale(""), "C");
    EXPECT_STREQ(stubborn_locale(nullptr), "C");
    EXPECT_EQ(stubborn_locale("de_DE.UTF-8"), nullptr);
  });
}

TEST_F(Identity, TheMainThreadHasTheNumberOfTheProcess) {
  run_alone([] {
    EXPECT_EQ(gettid(), getpid());
    std::thread([] { EXPECT_NE(gettid(), getpid()); }).join();
  });
}

TEST_F(Identity, TheOnlyUserIsRoot) {
  run_alone([] {
    passwd entry = {};
    passwd* found = nullptr;
    std::array<char, 64> texts{};
    EXPECT_EQ(getpwuid_r(getuid(), &entry, texts.data(), texts.size(), &found), 0);
    ASSERT_EQ(found, &entry);
    EXPECT_STREQ(entry.pw_name, "root");
    EXPECT_STREQ(entry.pw_passwd, "x");
    EXPECT_STREQ(entry.pw_dir, "/root");
    EXPECT_STREQ(entry.pw_shell, "/bin/sh");
    EXPECT_EQ(getpwuid_r(0, &entry, texts.data(), 4, &found), ERANGE);
    EXPECT_EQ(getpwnam_r("nobody", &entry, texts.data(), texts.size(), &found), 0);
    EXPECT_EQ(found, nullptr);
    EXPECT_EQ(getpwuid(7), nullptr);
    EXPECT_STREQ(getpwnam("root")->pw_dir, "/root");
  });
}

TEST_F(Identity, LocalTimeIsUtc) {
  run_alone([] {
    const time_t noon = 12 * 3600;
    tm parts = {};
    ASSERT_NE(localtime_r(&noon, &parts), nullptr);
    EXPECT_EQ(parts.tm_hour, 12);
    EXPECT_STREQ(parts.tm_zone, "UTC");
    EXPECT_EQ(mktime(&parts), noon);
    EXPECT_STREQ(ctime(&noon), "Thu Jan  1 12:00:00 1970\n");
  });
}

}  // namespace
}  // namespace fermata::sim
