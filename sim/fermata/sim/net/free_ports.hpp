// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

/// Ports that the system chooses, one after the other on each machine.
class FreePorts {
 public:
  /// The next one on the machine with address `ip` of which `taken` says no.
  template <class Taken>
  std::uint16_t next(std::uint32_t ip, Taken taken) {
    std::uint16_t& port = last_.try_emplace(ip, kFirst).first->second;
    do {
      if (++port < kFirst) port = kFirst;
    } while (taken(port));
    FERMATA_ASSERT(port >= kFirst);
    return port;
  }

  void reset() noexcept { last_.clear(); }

 private:
  static constexpr std::uint16_t kFirst = 32'768;

  std::map<std::uint32_t, std::uint16_t> last_;  // By machine.
};

}  // namespace fermata::sim::detail
