// SPDX-License-Identifier: Apache-2.0

// Folders of plans on storage that is not as it should be: without hard links, or with a clock that
// is wrong. What is wrong is said, and nothing is lost.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "tests/end_to_end/cli_fleet.hpp"

namespace fermata::testing {
namespace {

SIM_TEST(Specimen, DISABLED_FleetPasses) { static_cast<void>(fermata::random(5)); }

/// From now on link(2) does nothing in this thread and the processes that it starts: it fails with
/// `error`, or claims to have done it when that is 0. Returns whether the kernel does that.
bool disable_links(unsigned error) {
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
  constexpr std::uint16_t kJumpIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
  constexpr std::uint16_t kReturn = BPF_RET | BPF_K;
#if defined(SYS_link)
  constexpr std::uint32_t kLink = SYS_link;
#else
  constexpr std::uint32_t kLink = SYS_linkat;
#endif
  std::array<sock_filter, 5> filter = {{{kLoad, 0, 0, offsetof(seccomp_data, nr)},
                                        {kJumpIfEqual, 2, 0, SYS_linkat},
                                        {kJumpIfEqual, 1, 0, kLink},
                                        {kReturn, 0, 0, SECCOMP_RET_ALLOW},
                                        {kReturn, 0, 0, SECCOMP_RET_ERRNO | error}}};
  const sock_fprog program{static_cast<std::uint16_t>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

class FleetStorage : public Fleet, public ::testing::WithParamInterface<unsigned> {
 protected:
  /// Where link(2) does nothing; nothing when this kernel, or what runs this test, forbids that.
  [[nodiscard]] static std::optional<Finished> run_without_links(const std::string& command) {
    std::optional<Finished> finished;
    std::thread([&] {
      if (disable_links(GetParam())) finished = run_shell(command);
    }).join();
    return finished;
  }
};

TEST_P(FleetStorage, APlanWithoutHardLinksIsRefused) {
  const std::string command = plan_command("Passes", "--runs 500");
  const std::optional<Finished> refused = run_without_links(command);
  if (!refused) GTEST_SKIP() << "no system call can be disabled here";
  EXPECT_EQ(refused->exit_code, 1) << refused->output;
  EXPECT_TRUE(says(*refused, "is on a file system without hard links"));
  EXPECT_TRUE(files::is_empty(path("plan"))) << "what is left is in the way of the next attempt";
  make_plan("Passes", "--runs 500");
}

TEST_P(FleetStorage, AWorkerWithoutHardLinksRefuses) {
  make_plan("Passes", "--runs 500");
  for (const char* jobs : {"--jobs 1", "--jobs 2"}) {
    const std::optional<Finished> refused = run_without_links("timeout 20 " + work_command(jobs));
    if (!refused) GTEST_SKIP() << "no system call can be disabled here";
    EXPECT_EQ(refused->exit_code, 1) << refused->output;
    EXPECT_TRUE(says(*refused, "is on a file system without hard links"));
  }
  EXPECT_TRUE(files::is_empty(path("plan/tmp")));
  EXPECT_TRUE(says(status_of(), "0 of 3 chunks done, 0 leased"));
  EXPECT_EQ(run_shell(work_command()).exit_code, 0);
}

std::string name_of(const ::testing::TestParamInfo<unsigned>& info) {
  return info.param == 0 ? "NoEffect" : info.param == EPERM ? "EPERM" : "EOPNOTSUPP";
}

INSTANTIATE_TEST_SUITE_P(Links, FleetStorage, ::testing::Values(0U, EPERM, EOPNOTSUPP), name_of);

TEST_F(Fleet, ALeaseFromLongAgoIsTakenOver) {
  make_plan("Passes", "--runs 500 --lease 200ms", "calm");
  EXPECT_EQ(run_shell(work_command("--jobs 1", "calm")).exit_code, 0);
  make_plan("Passes", "--runs 500 --lease 200ms");
  for (const auto& entry : files::recursive_directory_iterator(path("calm/results"))) {
    if (!entry.is_regular_file()) continue;
    const files::path lease = path("plan/leases/" + entry.path().filename().string() + ".0");
    std::ofstream(lease) << "somebody";
    files::last_write_time(lease, files::file_time_type::clock::now() - std::chrono::years(50));
  }
  EXPECT_TRUE(says(status_of(), "0 of 3 chunks done, 3 leased"));
  const Finished work = run_shell(work_command());
  EXPECT_EQ(work.exit_code, 0) << work.output;
  EXPECT_TRUE(says(work, "3 chunks done, 3 taken over; the plan is complete"));
  EXPECT_EQ(left_by("plan"), left_by("calm"));
}

}  // namespace
}  // namespace fermata::testing
