// SPDX-License-Identifier: Apache-2.0
#pragma once

// A service whose connections a test pools: it counts what is made, ended and alive, and its hooks
// do what they are told.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/sync/pool.hpp"

namespace fermata::test {

struct Connection {
  int id = 0;
  bool broken = false;
};

class Service {
 public:
  /// A factory that connects, a destructor that disconnects, no hooks.
  [[nodiscard]] PoolOptions<Connection> options(std::int64_t max) {
    PoolOptions<Connection> options;
    options.factory = [this] { return connect(); };
    options.destructor = [this](Connection& connection) { disconnect(connection); };
    options.max = max;
    return options;
  }

  Connection connect() {
    if (on_connect) on_connect();
    ++live;
    most_live = std::max(most_live, live);
    return {++made};
  }
  void disconnect(Connection& connection) {
    ended.push_back(connection.id);
    struct Gone {
      int& live;
      ~Gone() { --live; }
    } gone{live};
    if (on_disconnect) on_disconnect();
  }

  std::function<void()> on_connect;     // May suspend or throw.
  std::function<void()> on_disconnect;  // The same.
  int made = 0;
  int live = 0;  // Made, and not ended to the end.
  int most_live = 0;
  std::vector<int> ended;  // Ids, in order.
};

/// Acquires, notes its name and the resource, and gives it back after `held`.
[[nodiscard]] inline Coroutine<> spawn_user(const char* name, Pool<Connection>& pool,
                                            std::vector<std::string>& served,
                                            Duration held = Duration::zero()) {
  return spawn(std::string(name), [name, &pool, &served, held] {
    const auto connection = pool.acquire();
    served.push_back(std::string(name) + std::to_string(connection->id));
    if (held > Duration::zero()) delay(held);
  });
}

}  // namespace fermata::test
