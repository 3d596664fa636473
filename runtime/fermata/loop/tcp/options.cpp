// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/options.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/reactor/keep_alive.hpp"

namespace fermata::loop {

void TcpOptions::check() const {
  marks.check();
  heartbeat.check();
  if (package_max == 0 || read_chunk == 0 || read_budget == 0) {
    throw UsageError(fmt::format(
        "connection: package_max {}, read_chunk {}, read_budget {}: expected at least 1 "
        "of each",
        package_max, read_chunk, read_budget));
  }
  static_cast<void>(fermata::detail::keep_alive_seconds(keep_alive, "connection: keep_alive"));
  for (const auto& [name, deadline] : {std::pair{"flush_deadline", flush_deadline},
                                       std::pair{"linger_deadline", linger_deadline}}) {
    if (deadline >= Duration::zero()) continue;
    throw UsageError(
        fmt::format("connection: {} {} ns, expected no negative time", name, deadline.count()));
  }
}

void TcpClientOptions::check() const {
  TcpOptions::check();
  if (connect_timeout <= Duration::zero()) {
    throw UsageError(fmt::format("connect: connect_timeout {} ns, expected a positive time",
                                 connect_timeout.count()));
  }
}

}  // namespace fermata::loop
