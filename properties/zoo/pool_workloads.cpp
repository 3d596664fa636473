// SPDX-License-Identifier: Apache-2.0

// Pools (Z-PL), and the timer of their health check (Z-DL-05).

#include <optional>

#include "fermata/runtime.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

using std::chrono::milliseconds;

struct Resource {
  int id = 0;
  bool dying = false;
};

/// Resources are numbered, and made at once.
PoolOptions<Resource> numbered(int& made, std::int64_t max) {
  PoolOptions<Resource> options;
  options.factory = [&made] { return Resource{++made}; };
  options.max = max;
  return options;
}

// Whoever waits has reason to.
void expect_served(sim::World& world, const Pool<Resource>& pool) {
  if (pool.waiting_count() == 0 || pool.active_count() > 0) return;
  complain(world, "WAKE (POOL-07): somebody waits though every place is free, " + pool.info());
}

// One holder takes its resource again and again, while another coroutine waits for it.
FERMATA_WORKLOAD(loop_without_a_pause, "Z-PL-01", 1, "FAIR", "POOL-05") {
  int made = 0;
  Pool<Resource> pool(numbered(made, 1));
  const auto looping = spawn("looping", [&] {
    auto lease = pool.acquire();
    suspend();
    suspend();
    for (int round = 0; round < 3; ++round) {
      const bool somebody_waits = pool.waiting_count() > 0;
      lease.release();
      const bool promised = pool.reserved_count() > 0;
      lease = pool.acquire({.timeout = std::chrono::seconds(10)});
      if (somebody_waits && promised && pool.reserved_count() > 0) {
        complain(world, "FAIR (POOL-05): the resource went back to its holder, not to who waits");
      }
    }
  });
  const auto waiting = spawn("waiting", [&] { pool.acquire().release(); });
  await(looping);
  await(waiting);
}

// Of two waiters the first is cancelled when it may have been woken already.
FERMATA_WORKLOAD(cancelled_between_wake_and_run, "Z-PL-02", 2, "WAKE", "DL+", "CAP", "POOL-07") {
  int made = 0;
  Pool<Resource> pool(numbered(made, 1));
  auto held = pool.acquire();
  const auto first = spawn("first", [&] { pool.acquire().release(); });
  const auto second = spawn("second", [&] { pool.acquire().release(); });
  const auto canceller = spawn("canceller", [&] {
    suspend();
    first.cancel();
  });
  const auto holder = spawn("holder", [&] {
    suspend();
    held.release();
  });
  delay(milliseconds(100));
  expect_served(world, pool);
  cancelled_or_done(first);
  await(second);
  await(canceller);
  await(holder);
}

// The factory takes its time; meanwhile others look for a place.
FERMATA_WORKLOAD(slow_factory, "Z-PL-03", 1, "CAP", "POOL-19") {
  int alive = 0;
  PoolOptions<Resource> options;
  options.factory = [&] {
    if (++alive > 1) complain(world, "CAP (POOL-19): two resources where there may be one");
    delay(milliseconds(1));
    return Resource{alive};
  };
  options.max = 1;
  Pool<Resource> pool(std::move(options));
  std::vector<Coroutine<>> users;
  for (const char* name : {"first", "second"}) {
    users.push_back(spawn(std::string(name), [&] { pool.acquire().release(); }));
  }
  for (const auto& user : users) await(user);
}

// The only resource comes back broken while somebody waits for it.
FERMATA_WORKLOAD(broken_on_return, "Z-PL-04", 1, "WAKE", "DL+", "POOL-07") {
  int made = 0;
  PoolOptions<Resource> options = numbered(made, 1);
  options.before_release = [](Resource& resource) { return resource.id != 1; };
  Pool<Resource> pool(std::move(options));
  auto held = pool.acquire();
  const auto waiting = spawn("waiting", [&] { pool.acquire().release(); });
  const auto holder = spawn("holder", [&] {
    suspend();
    held.release();
  });
  await(holder);
  delay(milliseconds(100));
  expect_served(world, pool);
  await(waiting);
}

// A resource comes back just in time, but whoever gets it runs a little late.
FERMATA_WORKLOAD(handed_over_in_time, "Z-PL-06", 2, "REF", "CAP", "SHUT", "POOL-11") {
  int made = 0;
  Pool<Resource> pool(numbered(made, 1));
  auto held = pool.acquire();
  const auto waiting = spawn("waiting", [&] {
    try {
      pool.acquire({.timeout = milliseconds(10)}).release();
    } catch (const Timeout&) {
    }
  });
  const auto busy = spawn("busy", [] {
    delay(milliseconds(9));
    suspend();
    suspend();  // In the calm order the waiter has run by now.
    sim::consume(milliseconds(2));
  });
  const auto holder = spawn("holder", [&] {
    delay(milliseconds(9));
    held.release();
  });
  await(busy);
  await(holder);
  await(waiting);
  if (pool.active_count() > 0) {
    complain(world, "REF (POOL-11): a timeout took a place with it, " + pool.info());
  }
}

// The health check finds a resource stale at the moment at which somebody wants it.
FERMATA_WORKLOAD(stale_when_wanted, "Z-PL-07", 2, "CAP", "ISO", "ERR", "POOL-03") {
  std::optional<Pool<Resource>> pool;
  const auto user = spawn("user", [&] {
    delay(milliseconds(10));
    if (!pool) return;  // Steps took long.
    auto lease = pool->acquire();
    if (lease->dying)
      complain(world, "ISO (POOL-03): a resource that is being ended was handed out");
    suspend();
    if (lease->dying) complain(world, "ISO (POOL-03): a resource was ended while in use");
  });
  suspend();
  int made = 0;
  PoolOptions<Resource> options = numbered(made, 2);
  options.min = 1;
  options.health_check = [](Resource& resource) { return resource.id != 1; };
  options.destructor = [](Resource& resource) {
    resource.dying = true;
    suspend();
    suspend();
  };
  options.health_check_interval = milliseconds(10);
  pool.emplace(std::move(options));
  await(user);
  pool->close();
}

// A pool that nobody uses is not a reason to go on.
FERMATA_WORKLOAD(idle_pool, "Z-DL-05", 1, "SHUT", "DL-", "POOL-15") {
  int made = 0;
  const std::size_t active = current_runtime().active_event_count();
  PoolOptions<Resource> options = numbered(made, 1);
  options.health_check_interval = milliseconds(10);
  const Pool<Resource> pool(std::move(options));
  if (current_runtime().active_event_count() > active) {
    complain(world, "SHUT (POOL-15): the timer of an idle pool's health check counts as activity");
  }
}

}  // namespace

}  // namespace fermata::properties::zoo
