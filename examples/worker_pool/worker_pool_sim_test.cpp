// SPDX-License-Identifier: Apache-2.0

// Clients submit while somebody shuts the pool down at any moment: what was accepted is done, once,
// and what was refused is not.

#include <fermata/sim.hpp>
#include <map>
#include <string>

#include "examples/worker_pool/worker_pool.hpp"

namespace {

using namespace std::chrono_literals;

SIM_TEST(WorkerPool, DoesWhatItHasAccepted) {
  std::map<int, int> done;
  std::map<int, bool> accepted;
  WorkerPool pool(2, 2);
  std::vector<fermata::Coroutine<>> clients;
  for (int client = 0; client < 3; ++client) {
    clients.push_back(fermata::spawn("client " + std::to_string(client), [&, client] {
      for (int i = 0; i < 4; ++i) {
        const int job = client * 10 + i;
        accepted[job] = pool.submit([&done, job] {
          fermata::delay(1ms);
          ++done[job];
        });
      }
    }));
  }
  fermata::delay(std::chrono::milliseconds(fermata::random(6)));
  pool.shut_down();
  for (const auto& [job, count] : done) EXPECT_EQ(count, 1) << "job " << job;
  for (const auto& client : clients) fermata::await(client);
  for (const auto& [job, was_accepted] : accepted) {
    EXPECT_EQ(done.count(job) == 1, was_accepted) << "job " << job;
  }
}

}  // namespace
