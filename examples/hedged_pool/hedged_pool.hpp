// SPDX-License-Identifier: Apache-2.0
#pragma once

// A client that asks twice when an answer is late, over a pool of connections with a circuit
// breaker. Whoever answers first wins, and the other request is cancelled: its answer is still
// under way, so nobody else may have its connection.

#include <chrono>
#include <fermata/runtime.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "examples/replication/wire.hpp"

namespace hedged_pool {

struct Options {
  std::chrono::milliseconds hedge_after{30};

  /// Without it the connection of a cancelled request goes back to the pool, with an answer to come
  /// that the next user reads as its own. That is the planted bug.
  bool discard_cancelled = true;
};

class Client {
 public:
  explicit Client(const fermata::Address& origin, Options options = {})
      : options_(options),
        pool_("origin", {.factory = [origin] { return connect(origin); },
                         .max = 4,
                         .strategy = std::make_shared<fermata::ConsecutiveFailures>(
                             3, std::chrono::seconds(1))}) {}

  /// "KEY=VALUE". Throws ServiceUnavailable while the circuit is open, other errors when neither
  /// request succeeds.
  std::string get(const std::string& key) {
    std::vector<fermata::Coroutine<std::string>> requests;
    requests.push_back(fermata::spawn("first request for " + key, [=, this] { return ask(key); }));
    try {
      return fermata::await(requests[0], {.timeout = options_.hedge_after});
    } catch (const fermata::Timeout&) {
      requests.push_back(fermata::spawn("hedge for " + key, [=, this] { return ask(key); }));
    }
    const fermata::AwaitOptions both{.on_exit = fermata::ExitPolicy::CancelAndJoin};
    const auto [answer, errors] = fermata::when_any_succeeds(requests, both);
    if (!answer) throw fermata::Error("no answer for " + key);
    FERMATA_REACHABLE("a hedged request succeeds");
    return *answer;
  }

 private:
  static fermata::TcpStream connect(const fermata::Address& origin) {
    return fermata::TcpStream::connect(origin, {.timeout = kPatience});
  }

  std::string ask(const std::string& key) {
    auto connection = pool_.acquire({.timeout = kPatience});
    try {
      connection->write(key + "\n", {.timeout = kPatience});
      std::string answer = read_line(*connection);
      if (answer.empty()) throw fermata::Error("the origin has closed the connection");
      FERMATA_ALWAYS(answer.rfind(key + "=", 0) == 0, "an answer belongs to its question",
                     "question", key, "answer", answer);
      return answer;
    } catch (const fermata::Error&) {
      connection.discard(std::current_exception());
      throw;
    } catch (const fermata::Cancellation&) {
      // The circuit counts it as a failure: there is no other way to get rid of a connection.
      if (options_.discard_cancelled) connection.discard();
      throw;
    }
  }

  Options options_;
  fermata::Pool<fermata::TcpStream> pool_;
};

/// Answers "KEY" with "KEY=value of KEY", question after question on each connection; some take
/// their time. Until it is cancelled.
inline void serve_origin(const fermata::Address& here) {
  auto listener = fermata::TcpListener::bind(here);
  while (auto accepted = listener.accept()) {
    fermata::spawn("session", [peer = std::move(*accepted)]() mutable {
      try {
        for (std::string key = read_line(peer); !key.empty(); key = read_line(peer)) {
          fermata::delay(std::chrono::milliseconds(fermata::random(60)));
          peer.write(key + "=value of " + key + "\n", {.timeout = kPatience});
        }
      } catch (const fermata::Error&) {  // Whoever asked is gone, or asks no more.
      }
    });
  }
}

}  // namespace hedged_pool
