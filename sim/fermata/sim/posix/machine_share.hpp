// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "fermata/sim/posix/rights.hpp"
#include "fermata/sim/posix/unix_datagram_socket.hpp"
#include "fermata/sim/posix/unix_names.hpp"

namespace fermata::sim::detail {

/// What the processes of one machine have in common, for foreign code.
struct MachineShare {
  MachineShare(Machine& machine, Network& network, Disk& disk)
      : unix_names(machine, network, disk) {}

  UnixNames unix_names;
  UnixDatagramSockets unix_datagrams;
  RightsUnderWay rights;
  std::size_t threads = 0;    // How many run, in all processes.
  std::size_t processes = 0;  // How many were made in this run.
};

}  // namespace fermata::sim::detail
