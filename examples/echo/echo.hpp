// SPDX-License-Identifier: Apache-2.0
#pragma once

// An echo server, written once: main.cpp runs it on real sockets, echo_sim_test.cpp in the
// simulator.

#include "fermata/io/tcp.hpp"

namespace echo {

/// Sends back what `peer` sends, until it stops or hangs up.
void echo(fermata::TcpStream& peer);

/// Gives each connection a coroutine of its own; returns when `listener` is closed.
void serve(fermata::TcpListener& listener);

}  // namespace echo
