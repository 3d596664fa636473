// SPDX-License-Identifier: Apache-2.0

// How often each kind of step is drawn, and on what.

#include <array>
#include <span>
#include <vector>

#include "tests/posix/scripts/operations.hpp"

namespace fermata::test {

namespace {

using namespace kind;  // NOLINT(google-build-using-namespace): the rows of a table.
constexpr std::array<Kinds, 2> kNothing = {kNone, kNone};

const std::array kOperations = {
    Operation{3, kNone, kNone, {kStream, kStream}, kNone, make_socket_pair},
    Operation{3, kNone, kNone, {kPipeIn, kPipeOut}, kNone, make_pipe},
    Operation{2, kNone, kNone, {kEvent, kNone}, kNone, make_eventfd},
    Operation{2, kNone, kNone, {kTimer, kNone}, kNone, make_timer},
    Operation{3, kNone, kNone, {kEpoll, kNone}, kNone, make_epoll},
    Operation{3, kNone, kNone, {kUnix, kNone}, kNone, make_unix},
    Operation{2, kNone, kNone, {kLetter, kNone}, kNone, make_unix_datagram},
    Operation{2, kNone, kNone, {kLetter, kLetter}, kNone, make_datagram_pair},
    Operation{3, kNone, kNone, {kUnbound, kNone}, kNone, make_tcp},
    Operation{2, kNone, kNone, {kUdp, kNone}, kNone, make_udp},
    Operation{2, kNone, kNone, kNothing, kNone, open_wrongly},
    Operation{3, kSocket, kNone, kNothing, kNone, get_own_name},
    Operation{3, kSocket, kNone, kNothing, kNone, get_peer_name},
    Operation{3, kUnix, kNone, kNothing, kNone, bind_path},
    Operation{3, kLetter, kNone, kNothing, kNone, bind_path},
    Operation{3, kUnbound, kNone, kNothing, kTcp, bind_loopback},
    Operation{3, kUdp, kNone, kNothing, kNone, bind_udp},
    Operation{3, kUnix | kTcp | kUnbound | kListener, kNone, kNothing, kListener, listen_at},
    Operation{4, kUnix, kNone, kNothing, kStream, connect_to_path},
    Operation{3, kLetter, kNone, kNothing, kNone, connect_to_path},
    Operation{4, kUnbound, kListener | kTcp, kNothing, kStream, connect_to},
    Operation{4, kUdp, kUdp, kNothing, kNone, connect_udp},
    Operation{2, kStream | kTcp | kUdp | kListener, kNone, kNothing, kNone, disconnect},
    Operation{5, kListener, kNone, {kStream, kNone}, kNone, accept_one},
    Operation{12, kReadable, kNone, kNothing, kNone, read_some},
    Operation{4, kReadable, kNone, kNothing, kNone, read_pieces},
    Operation{8, kStream | kUdp, kNone, kNothing, kNone, receive_some},
    Operation{12, kWritable, kNone, kNothing, kNone, write_some},
    Operation{4, kWritable, kNone, kNothing, kNone, write_pieces},
    Operation{8, kStream | kUdp, kNone, kNothing, kNone, send_some},
    Operation{5, kUdp, kUdp, kNothing, kNone, send_to},
    Operation{5, kLetter, kNone, kNothing, kNone, send_to_path},
    Operation{4, kEvent, kNone, kNothing, kNone, add_to_event},
    Operation{6, kStream, kNone, kNothing, kNone, shut_down},
    Operation{8, kAny, kNone, kNothing, kNone, close_it},
    Operation{3, kAny, kNone, {kAny, kNone}, kNone, duplicate},
    Operation{3, kAny, kNone, {kAny, kNone}, kNone, duplicate_from},
    Operation{3, kAny, kAny, {kAny, kNone}, kNone, duplicate_to},
    Operation{2, kAny, kAny, {kAny, kNone}, kNone, duplicate_to_with_flags},
    Operation{4, kAny, kNone, kNothing, kNone, get_flags},
    Operation{2, kAny, kNone, kNothing, kNone, set_close_on_exec},
    Operation{2, kAny, kNone, kNothing, kNone, set_status},
    Operation{2, kAny, kNone, kNothing, kNone, set_blocking},
    Operation{4, kAny, kNone, kNothing, kNone, count_readable},
    Operation{5, kSocket, kNone, kNothing, kNone, get_option},
    Operation{6, kSocket, kNone, kNothing, kNone, set_number},
    Operation{6, kSocket, kNone, kNothing, kNone, get_number},
    Operation{3, kSocket, kNone, kNothing, kNone, set_linger},
    Operation{1, kSocket, kNone, kNothing, kNone, set_limit},
    Operation{12, kEpoll, kAny, kNothing, kNone, control_epoll},
    Operation{12, kEpoll, kNone, kNothing, kNone, wait_for_epoll},
    Operation{10, kAny, kAny, kNothing, kNone, poll_two},
    Operation{5, kAny, kAny, kNothing, kNone, select_two},
    Operation{4, kTimer, kNone, kNothing, kNone, set_timer},
    Operation{2, kTimer, kNone, kNothing, kNone, get_timer},
    Operation{6, kStream | kLetter, kAny, kNothing, kNone, pass_descriptor},
    Operation{6, kStream | kLetter, kNone, {kPipeIn, kNone}, kNone, take_descriptor},
};

using Opening = std::vector<Perform*>;
const std::array kOpenings = {
    Opening{make_pipe},
    Opening{make_socket_pair},
    Opening{make_eventfd, make_epoll},
    Opening{make_timer, make_epoll},
    Opening{make_unix, bind_path, listen_at, make_unix, connect_to_path, accept_one},
    Opening{make_tcp, bind_loopback, listen_at, make_tcp, connect_to, accept_one},
    Opening{make_udp, bind_udp, make_udp, bind_udp},
    Opening{make_unix_datagram, bind_path, make_unix_datagram, connect_to_path},
    Opening{make_datagram_pair},
};

}  // namespace

std::span<const Operation> operations() { return kOperations; }

std::span<const std::vector<Perform*>> openings() { return kOpenings; }

}  // namespace fermata::test
