// SPDX-License-Identifier: Apache-2.0
#pragma once

// The least that may be called a simulated network: nodes are callbacks, and each message is one
// entry of a heap, with a link looked up, three draws, an inbox, two copies and a trace hash.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "bench/floor/random.hpp"
#include "bench/floor/timer_heap.hpp"

namespace bench {

class MiniNetwork {
 public:
  using Message = std::array<std::byte, 64>;

  explicit MiniNetwork(std::size_t nodes) : latency_(nodes * nodes, 250'000), inboxes_(nodes) {}

  void send(std::size_t from, std::size_t to, const Message& message) {
    const bool lost = random_.below(1'000'000) == kNever;
    const bool doubled = random_.below(1'000'000) == kNever;
    const std::uint64_t extra = random_.below(1'000'000) == kNever ? 1'000 : 0;
    if (lost || doubled) return;
    Packet* packet = free_.empty() ? &packets_.emplace_back() : free_.back();
    if (!free_.empty()) free_.pop_back();
    *packet = {to, message};
    const std::int64_t latency = latency_[from * inboxes_.size() + to];
    heap_.push(now_ + latency + static_cast<std::int64_t>(extra), packet);
  }

  /// Delivers `messages` one by one: each to `receive(node, message)`, which may send.
  template <class F>
  void run(std::uint64_t messages, F receive) {
    for (; messages > 0 && !heap_.empty(); --messages) {
      const auto due = heap_.pop();
      now_ = due.deadline;
      const std::size_t node = due.target->to;
      inboxes_[node].push_back(due.target->message);
      free_.push_back(due.target);
      hash_ = (hash_ ^ static_cast<std::uint64_t>(now_) ^ node) * 0x9e3779b97f4a7c15;
      const Message message = inboxes_[node].front();
      inboxes_[node].pop_front();
      receive(node, message);
    }
  }

  [[nodiscard]] std::uint64_t trace_hash() const { return hash_; }

 private:
  static constexpr std::uint64_t kNever = 1'000'000;

  struct Packet {
    std::size_t to;
    Message message;
  };

  Random random_;
  TimerHeap<Packet> heap_;
  std::deque<Packet> packets_;
  std::vector<Packet*> free_;
  std::vector<std::int64_t> latency_;
  std::vector<std::deque<Message>> inboxes_;
  std::int64_t now_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace bench
