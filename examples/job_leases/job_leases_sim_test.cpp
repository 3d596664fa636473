// SPDX-License-Identifier: Apache-2.0

// A desk and two workers that crash and pause, on a network with faults: each job is charged once.

#include <fermata/sim.hpp>
#include <memory>

#include "examples/job_leases/job_leases.hpp"

namespace {

using namespace std::chrono_literals;

constexpr int kJobs = 4;

void every_job_is_charged_once(fermata::sim::World& world, job_leases::Key key) {
  const auto desk = std::make_shared<job_leases::Desk>(kJobs);
  world.service("desk", [desk, &world] { serve(world.node("desk").address(7000), desk); });
  const fermata::Address address = world.node("desk").address(7000);
  for (const char* name : {"ann", "bob"}) {
    world.node(name, [=] { job_leases::work(name, address, key); });
  }
  world.nemesis({.machines = {"ann", "bob"}, .until = 5s});
  fermata::delay(5s);
  FERMATA_EVENTUALLY(10s, desk->bank().charged_jobs() == kJobs, "all jobs are done");
  world.run();
  EXPECT_EQ(desk->bank().charged_jobs(), kJobs) << "a job was finished and not charged";
}

SIM_TEST(JobLeases, EveryJobIsChargedOnce) {
  every_job_is_charged_once(world, job_leases::Key::kJob);
}

// The planted bug; `--gtest_also_run_disabled_tests` runs it.
// Finds: safety: always: a job is charged once
SIM_TEST(JobLeases, DISABLED_TheKeyIsTheLease) {
  every_job_is_charged_once(world, job_leases::Key::kLease);
}

}  // namespace
