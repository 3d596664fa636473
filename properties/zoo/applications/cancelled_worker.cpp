// SPDX-License-Identifier: Apache-2.0

// A pool is shut down by cancelling its worker. A job that the worker has taken and not done is
// lost, though it was accepted. (cancel versus completion)

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

FERMATA_APPLICATION(CancelledWorker) {
  Channel<int> jobs("jobs", 4);
  int done = 0;
  const auto worker = spawn("worker", [&] {
    while (jobs.next()) {
      delay(2ms);  // the job
      ++done;
    }
  });
  const auto client = spawn("client", [&] { jobs.send(1); });
  spawn_bystanders(3);
  await(client);
  delay(1ms);
  delay(1ms);  // until it closes for today
  jobs.close();
  if (variant == Variant::Buggy) worker.cancel();
  try {
    await(worker);
  } catch (const Cancellation&) {
  }
  EXPECT_EQ(done, 1);
}

}  // namespace fermata::properties::zoo
