// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/pools.md, so that what the page shows is compiled and run.

#include <chrono>
#include <cstdio>
#include <fermata/runtime.hpp>
#include <memory>
#include <string>

namespace guide::pools {

using namespace std::chrono_literals;

/// What a connection to a database would be.
struct Connection {
  bool alive = true;

  std::string query(const std::string& text) const {
    fermata::delay(1ms);
    return text + ": done";
  }
};

/// A new connection, which takes a while.
inline Connection connect() {
  fermata::delay(5ms);
  return {};
}

inline void leases() {
  fermata::Pool<Connection> pool("db", {.factory = connect, .min = 1, .max = 4});
  {
    auto connection = pool.acquire();
    std::printf("%s\n", connection->query("select").c_str());
  }  // The connection goes back here.
  std::printf("%s\n", pool.info().c_str());
}

inline void waiting() {
  fermata::Pool<Connection> pool({.factory = connect, .max = 1});
  auto connection = pool.acquire();
  try {
    auto another = pool.acquire({.timeout = 20ms});
  } catch (const fermata::Timeout& error) {
    std::printf("no connection: %s\n", error.what());
  }
  if (!pool.try_acquire()) std::printf("not now\n");
}

inline void hooks() {
  fermata::Pool<Connection> pool({
      .factory = connect,
      .destructor = [](Connection&) { fermata::delay(1ms); },
      .health_check = [](Connection& connection) { return connection.alive; },
      .before_acquire = [](Connection& connection) { return connection.alive; },
      .before_release =
          [](Connection& connection) { return !connection.query("rollback").empty(); },
      .min = 2,
      .max = 4,
      .health_check_interval = 30s,
  });
  auto connection = pool.acquire();
  connection->alive = false;
  connection.release();
  connection = pool.acquire();
  std::printf("a healthy one: %s\n", connection->alive ? "yes" : "no");
  connection.release();
  pool.close();
}

inline void broken() {
  fermata::Pool<Connection> pool({.factory = connect});
  auto connection = pool.acquire();
  connection.discard(std::make_exception_ptr(fermata::Error("protocol error")));
  std::printf("%zu connections left\n", pool.count());
}

inline void circuit() {
  bool reachable = false;
  fermata::Pool<Connection> pool({
      .factory =
          [&] {
            if (!reachable) throw fermata::Error("connection refused");
            return connect();
          },
      .strategy = std::make_shared<fermata::ConsecutiveFailures>(3, 1s),
  });
  for (int attempt = 0; attempt < 4; ++attempt) {
    try {
      pool.acquire().release();
    } catch (const fermata::ServiceUnavailable& error) {
      std::printf("%s\n", error.what());
    } catch (const fermata::Error& error) {
      std::printf("attempt %d: %s\n", attempt, error.what());
    }
  }
  reachable = true;
  fermata::delay(1s);
  pool.acquire().release();
  std::printf("the circuit is %s\n", to_string(pool.state()));
}

inline void closing() {
  fermata::Pool<Connection> pool("db", {.factory = connect, .max = 1});
  auto connection = pool.acquire();
  auto late = fermata::spawn("late", [&] { pool.acquire().release(); });
  fermata::suspend();
  pool.close();
  try {
    fermata::await(late);
  } catch (const fermata::PoolError& error) {
    std::printf("%s\n", error.what());
  }
  std::printf("%s\n", connection->query("last").c_str());  // Ours until it goes back.
}

inline void tour() {
  leases();
  waiting();
  hooks();
  broken();
  circuit();
  closing();
}

}  // namespace guide::pools
