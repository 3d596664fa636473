// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/datagrams.hpp"

#include <fmt/format.h>

#include "fermata/base/error.hpp"

namespace fermata::backend {

Ref<DatagramHandle> Datagrams::bind(const Address& address, const DatagramOptions& options) {
  const auto require = [&](const char* name, int value, int least) {
    if (value >= least && value <= 255) return;
    throw UsageError(
        fmt::format("bind {}: {} {}: expected {} to 255", address.text(), name, value, least));
  };
  require("multicast_ttl", options.multicast_ttl, 0);
  require("ttl", options.ttl, 1);
  return open(address, options);
}

}  // namespace fermata::backend
