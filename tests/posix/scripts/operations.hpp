// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kinds of steps, each a function that performs one.

#include "tests/posix/scripts/script.hpp"

namespace fermata::test {

Perform make_socket_pair;
Perform make_pipe;
Perform make_eventfd;
Perform make_timer;
Perform make_epoll;
Perform make_datagram_pair;
Perform make_unix;
Perform make_unix_datagram;
Perform make_tcp;
Perform make_udp;
Perform open_wrongly;
Perform get_own_name;
Perform get_peer_name;
Perform bind_path;
Perform bind_loopback;
Perform bind_udp;
Perform listen_at;
Perform connect_to_path;
Perform connect_to;
Perform connect_udp;
Perform disconnect;
Perform accept_one;
Perform read_some;
Perform read_pieces;
Perform receive_some;
Perform write_some;
Perform write_pieces;
Perform send_some;
Perform send_to;
Perform send_to_path;
Perform add_to_event;
Perform pass_descriptor;
Perform take_descriptor;
Perform shut_down;
Perform close_it;
Perform duplicate;
Perform duplicate_from;
Perform duplicate_to;
Perform duplicate_to_with_flags;
Perform get_flags;
Perform set_close_on_exec;
Perform set_status;
Perform set_blocking;
Perform count_readable;
Perform get_option;
Perform set_number;
Perform get_number;
Perform set_linger;
Perform set_limit;
Perform control_epoll;
Perform wait_for_epoll;
Perform poll_two;
Perform select_two;
Perform set_timer;
Perform get_timer;

}  // namespace fermata::test
