// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/connection.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/sim/world/fault_plan.hpp"
#include "fermata/sim/world/node_state.hpp"

namespace fermata::sim::detail {

namespace {

constexpr Duration kWithinNode = std::chrono::microseconds(20);
constexpr Duration kBetweenNodes = std::chrono::microseconds(250);
constexpr Duration kLeastDelay = std::chrono::microseconds(10);
constexpr std::uint64_t kDelays = 14;  // Each twice the one before; the longest is 82 ms.

}  // namespace

Connection::Connection(std::uint64_t key, End client, End server)
    : key_(key), ends_{client, server} {}

Connection::Connection(std::uint64_t key, NodeState& node, std::string place)
    : key_(key), place_(std::move(place)) {
  for (End& end : ends_) end.node = &node;
}

std::string Connection::text(Side from) const {
  if (local()) return place_;
  return fmt::format("{} -> {}", ends_[from].address.text(), ends_[other(from)].address.text());
}

Duration Connection::least_latency() const noexcept {
  if (local()) return Duration::zero();
  return ends_[Client].node == ends_[Server].node ? kWithinNode : kBetweenNodes;
}

Duration Connection::latency(Side from) {
  if (local()) return Duration::zero();
  NodeState& node = *ends_[from].node;
  const std::uint64_t key = key_of(key_of(key_, from), "delay");
  if (node.decisions().naming()) {
    node.decisions().name(key, "delay " + text(from));
  }
  const std::uint64_t delay = node.faults().strength(Fault::Delay, Stream::Network, key, kDelays);
  return least_latency() + (delay == 0 ? Duration::zero() : kLeastDelay * (1 << delay));
}

Instant Connection::arrival_from(Side from) { return ends_[from].node->now() + latency(from); }

void Connection::send(Side from, std::span<const std::byte> bytes) {
  const Side there = other(from);
  const Instant arrival = arrival_from(from);
  if (ends_[there].closed) {  // Nobody is there any more: the answer is a reset.
    to(from).send_reset(arrival + least_latency());
    return tell(from);
  }
  to(there).send(bytes, arrival);
  tell(there);
}

void Connection::send_end(Side from) {
  to(other(from)).send_end(arrival_from(from));
  tell(other(from));
}

void Connection::send_reset(Side from) {
  to(other(from)).send_reset(arrival_from(from));
  tell(other(from));
}

void Connection::consumed(Side by, std::size_t bytes) {
  const bool was_full = to(by).room() == 0;
  to(by).consume(bytes);
  End& sender = ends_[other(by)];
  if (was_full && sender.endpoint != nullptr) {
    sender.endpoint->expect_room(ends_[by].node->now() + least_latency());
  }
}

void Connection::close(Side side) {
  End& here = ends_[side];
  if (std::exchange(here.closed, true)) return;
  here.endpoint = nullptr;
  if (broken(side)) return;
  if (to(side).unread() + to(side).under_way() > 0) {
    send_reset(side);
  } else {
    send_end(side);
  }
}

void Connection::break_down(Side here) {
  broken_here_[here] = true;
  send_reset(here);
}

void Connection::tell(Side side) {
  if (ends_[side].endpoint != nullptr) ends_[side].endpoint->expect_arrival();
}

}  // namespace fermata::sim::detail
