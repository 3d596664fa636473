// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/pipe_end.hpp"

#include <fcntl.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

std::array<std::shared_ptr<PipeEnd>, 2> PipeEnd::make_pair(
    Machine& machine, Network& network, const std::array<std::uint64_t, 2>& serials) {
  const auto connection = network.make_local_connection(machine, "pipe");
  return {std::make_shared<PipeEnd>(machine, network, serials[0], connection, Connection::Server),
          std::make_shared<PipeEnd>(machine, network, serials[1], connection, Connection::Client)};
}

PipeEnd::PipeEnd(Machine& machine, Network& network, std::uint64_t serial,
                 std::shared_ptr<Connection> connection, Connection::Side side)
    : Description(machine, "pipe", serial), end_(*this, network, std::move(connection), side) {
  status = reads() ? O_RDONLY : O_WRONLY;
}

void PipeEnd::input_came() {
  end_.take_in();
  changed(peer_closed() ? kAnything : Readiness{EPOLLIN});
  end_.expect_arrival();
}

ssize_t PipeEnd::read(std::span<const iovec> target) {
  if (!reads()) return -EBADF;
  end_.take_in();
  const std::span<const std::byte> unread = end_.unread();
  if (unread.empty()) return peer_closed() || size_of(target) == 0 ? 0 : -EAGAIN;
  const std::size_t part = end_.drawn_read(std::min(size_of(target), unread.size()));
  scatter(unread.first(part), target);
  end_.consume(part);
  return static_cast<ssize_t>(part);
}

// What fits into PIPE_BUF bytes is written whole or not at all.
ssize_t PipeEnd::write(std::span<const iovec> source) {
  if (reads()) return -EBADF;
  const std::vector<std::byte> bytes = gather(source);
  if (bytes.empty()) return 0;
  if (peer_closed()) return -EPIPE;
  const bool is_atomic = bytes.size() <= PIPE_BUF;
  if (is_atomic && end_.room() < bytes.size()) return -EAGAIN;
  if (is_atomic) {
    end_.connection().send(end_.side(), bytes);
    return static_cast<ssize_t>(bytes.size());
  }
  const std::size_t part = end_.accept(bytes);
  return part == 0 ? -EAGAIN : static_cast<ssize_t>(part);
}

int PipeEnd::readable_bytes() {
  Pipe& pipe = end_.connection().to(Connection::Server);
  pipe.arrive(machine().now());
  return static_cast<int>(pipe.unread());
}

Readiness PipeEnd::readiness() {
  end_.take_in();
  Readiness ready = 0;
  if (reads()) {
    if (!end_.unread().empty()) ready |= EPOLLIN;
    if (peer_closed()) ready |= EPOLLHUP;
  } else {
    if (end_.room() >= PIPE_BUF) ready |= EPOLLOUT;
    if (peer_closed()) ready |= EPOLLERR;
  }
  return ready;
}

}  // namespace fermata::sim::detail
