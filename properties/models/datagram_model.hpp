// SPDX-License-Identifier: Apache-2.0
#pragma once

// Datagrams of one world: each is sent once, and arrives whole, as often as the network's faults
// allow. An empty one cannot say which it is.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class DatagramModel {
 public:
  /// What the network may have done so far.
  struct Faults {
    bool duplicate = false;
    bool reorder = false;
  };

  /// Bytes that say which datagram it is.
  static constexpr std::size_t kHead = 2;

  /// One of `size` bytes, none or at least kHead, that will come from `from` to `to`.
  [[nodiscard]] std::size_t begin(std::size_t from, std::size_t to, std::size_t size) {
    sent_.push_back({from, to, size});
    return sent_.size() - 1;
  }
  [[nodiscard]] std::vector<std::byte> bytes_of(std::size_t number) const {
    std::vector<std::byte> bytes(sent_[number].size);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = at(number, i);
    return bytes;
  }
  /// It was not sent after all.
  void refused(std::size_t number) { sent_[number].refused = true; }
  /// It may have been sent or not, or to nobody.
  void unsure(std::size_t number) { sent_[number].unsure = true; }

  /// `bytes` came to `to`, cut off when `truncated`. `in_order`: whoever looks sees them in the
  /// order of their arrival. `hops`: how many ways each may be doubled on.
  [[nodiscard]] Complaint received(std::size_t from, std::size_t to,
                                   std::span<const std::byte> bytes, bool truncated,
                                   const Faults& faults, bool in_order, std::size_t hops) {
    const std::size_t most = faults.duplicate ? std::size_t{1} << hops : 1;
    if (bytes.empty()) return received_empty(from, to, most);
    if (bytes.size() < kHead) return "IO-13 (VAL): a datagram without its head came in";
    const std::size_t number =
        std::to_integer<std::size_t>(bytes[0]) * 256 + std::to_integer<std::size_t>(bytes[1]);
    const std::string what = "IO-13 (VAL): datagram " + std::to_string(number);
    if (number >= sent_.size()) return what + " was never sent";
    Sent& sent = sent_[number];
    if (sent.refused) return what + " was refused, and came in";
    if (sent.from != from || sent.to != to) return what + " came to, or from, somebody else";
    if (truncated ? bytes.size() >= sent.size : bytes.size() != sent.size) {
      return what + " came with " + std::to_string(bytes.size()) + " of " +
             std::to_string(sent.size) + " bytes";
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] != at(number, i)) return what + " came with other bytes";
    }
    if (++sent.received > most) return what + " came too often";
    if (in_order && !faults.duplicate && !faults.reorder) {
      for (std::size_t later = number + 1; later < sent_.size(); ++later) {
        const Sent& other = sent_[later];
        if (other.from == from && other.to == to && other.size > 0 && other.received > 0) {
          return what + " came after one that was sent later";
        }
      }
    }
    return {};
  }

  /// All that was sent to `to` has been looked for.
  [[nodiscard]] Complaint all_received(std::size_t to) const {
    for (std::size_t number = 0; number < sent_.size(); ++number) {
      const Sent& sent = sent_[number];
      if (sent.to != to || sent.refused || sent.unsure || sent.received > 0) continue;
      if (sent.size == 0) continue;  // Counted together.
      return "IO-13 (VAL): datagram " + std::to_string(number) +
             " was sent and never came, and nothing has happened to it";
    }
    std::size_t empty = 0;
    std::size_t came = 0;
    for (const Sent& sent : sent_) {
      if (sent.to != to || sent.size > 0) continue;
      empty += sent.refused || sent.unsure ? 0 : 1;
      came += sent.received;
    }
    return came >= empty ? "" : "IO-13 (VAL): an empty datagram never came";
  }

 private:
  struct Sent {
    std::size_t from, to, size;
    std::size_t received = 0;
    bool refused = false;
    bool unsure = false;
  };

  [[nodiscard]] static std::byte at(std::size_t number, std::size_t place) {
    if (place < kHead) return static_cast<std::byte>(place == 0 ? number / 256 : number % 256);
    return static_cast<std::byte>(number * 31 + place * 7);
  }

  [[nodiscard]] Complaint received_empty(std::size_t from, std::size_t to, std::size_t most) {
    for (Sent& sent : sent_) {
      if (sent.from != from || sent.to != to || sent.size > 0 || sent.refused) continue;
      if (sent.received == most) continue;
      ++sent.received;
      return {};
    }
    return "IO-13 (VAL): an empty datagram came that was never sent";
  }

  std::vector<Sent> sent_;
};

}  // namespace fermata::models
