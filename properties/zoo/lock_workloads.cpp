// SPDX-License-Identifier: Apache-2.0

// Lines of waiters (Z-CN-07).

#include "fermata/runtime.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

using std::chrono::milliseconds;

// Two wait for a mutex; the first of them is cancelled, and the holder unlocks before it has run.
FERMATA_WORKLOAD(cancelled_head_of_line, "Z-CN-07", 3, "WAKE", "FIFO", "CORE-GL-08") {
  Mutex mutex("mutex");
  Coroutine<> first;
  const auto holder = spawn("holder", [&] {
    const Mutex::Guard guard(mutex);
    for (int i = 0; i < 3; ++i) suspend();
  });
  first = spawn("first", [&] { const Mutex::Guard guard(mutex); });
  const auto second = spawn("second", [&] { const Mutex::Guard guard(mutex); });
  const auto canceller = spawn("canceller", [&] {
    for (int i = 0; i < 5; ++i) suspend();
    first.cancel();
  });
  await(holder);
  await(canceller);
  delay(milliseconds(10));
  if (!mutex.is_locked() && sleeps(second)) {
    complain(world, "WAKE (CORE-GL-08): nobody has the mutex, but there is " + mutex.info());
    second.cancel();
  }
  cancelled_or_done(first);
  cancelled_or_done(second);
}

}  // namespace

}  // namespace fermata::properties::zoo
