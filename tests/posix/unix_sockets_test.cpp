// SPDX-License-Identifier: Apache-2.0

// Unix sockets of foreign code: their names.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

/// What getsockname() gives for sockets that are bound to abstract names of all lengths.
std::vector<std::string> abstract_names(int type) {
  std::vector<std::string> told;
  for (std::size_t length = 1; length <= sizeof(sockaddr_un::sun_path); ++length) {
    const int socket = ::socket(AF_UNIX, type, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::fill_n(address.sun_path + 1, length - 1, 'a');
    if (length > 2) address.sun_path[length / 2] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
    const int bound = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), size);
    sockaddr_un name = {};
    socklen_t room = sizeof name;
    EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&name), &room), 0);
    told.push_back(std::to_string(bound) +
                   std::string(name.sun_path, room - offsetof(sockaddr_un, sun_path)));
    EXPECT_EQ(::close(socket), 0);
  }
  return told;
}

class UnixSockets : public test::WorldFixture {};

TEST_F(UnixSockets, HaveAbstractNamesOfAnyBytes) {
  for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
    begin(1);
    const std::vector<std::string> on_linux = abstract_names(type);
    world_->node("main", [&] { EXPECT_EQ(abstract_names(type), on_linux); });
    run();
  }
}

}  // namespace
}  // namespace fermata::sim
