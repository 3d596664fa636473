// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/reactor/datagrams.hpp"

#include <fmt/format.h>

#include "fermata/runtime/base/error.hpp"

namespace fermata {

Ref<DatagramHandle> Datagrams::bind(const Address& address, const DatagramOptions& options) {
  if (options.multicast_ttl < 0 || options.multicast_ttl > 255) {
    throw UsageError(fmt::format("bind {}: multicast_ttl {}: expected 0 to 255", address.text(),
                                 options.multicast_ttl));
  }
  return open(address, options);
}

}  // namespace fermata
