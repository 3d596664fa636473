// SPDX-License-Identifier: Apache-2.0
#pragma once

// A channel between threads: a queue of tags, and who is inside of an operation. It is told of each
// operation where that returns or throws, which nothing separates from what it did.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class ThreadChannelModel {
 public:
  enum class Side : std::uint8_t { Sender, Receiver };

  explicit ThreadChannelModel(std::size_t capacity) : capacity_(capacity) {}

  [[nodiscard]] bool is_closed() const { return closed_; }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  void close() { closed_ = true; }

  /// Somebody calls an operation; returns its number. `sleeps(number)`: whether who has called
  /// another one is parked there now, and so comes first.
  template <class Sleeps>
  [[nodiscard]] std::size_t called(Side side, Sleeps sleeps) {
    Call call{next_call_++, side, {}};
    for (const Call& other : calls_) {
      if (other.side == side && sleeps(other.number)) call.earlier.push_back(other.number);
    }
    calls_.push_back(std::move(call));
    return calls_.back().number;
  }

  [[nodiscard]] Complaint sent(std::size_t number, int tag) {
    if (closed_) return "TC-04 (VAL): a closed channel has taken " + name(tag);
    if (values_.size() >= capacity_) return "TC-01 (CAP): a full channel has taken " + name(tag);
    const Complaint complaint = served(number, capacity_ - values_.size());
    values_.push_back(tag);
    return complaint;
  }
  [[nodiscard]] Complaint received(std::size_t number, int tag) {
    if (values_.empty() || values_.front() != tag) {
      const bool later = std::find(values_.begin(), values_.end(), tag) != values_.end();
      return later ? "TC-01 (FIFO): " + name(tag) + " came before " + name(values_.front())
                   : "TC-01, TC-02 (VAL): " + name(tag) + " came, and is not in the channel";
    }
    const Complaint complaint = served(number, values_.size());
    values_.pop_front();
    return complaint;
  }

  /// It was cancelled.
  void left(std::size_t number) { erase(number); }

  /// Its time was up, or its token has fired.
  [[nodiscard]] Complaint gave_up(std::size_t number) {
    const Side side = find(number)->side;
    const bool served = !is_over_for(side) && free_for(side) >= inside(side);
    erase(number);
    if (served) return "TC-02 (CANC): one gives up what it had been promised";
    return {};
  }

  /// It was told that the channel is closed.
  [[nodiscard]] Complaint turned_away(std::size_t number) {
    const Side side = erase(number);
    if (!closed_) return "TC-04 (ERR): an open channel says that it is closed";
    if (side == Side::Receiver && !values_.empty()) {
      return "TC-04 (VAL): a receiver is told of the end before it has got " +
             name(values_.front());
    }
    return {};
  }

  /// It would have had to wait.
  [[nodiscard]] Complaint not_at_once(std::size_t number) {
    const Side side = erase(number);
    if (is_over_for(side)) {
      return "TC-04 (ERR): a closed channel lets one try again";
    }
    if (free_for(side) > inside(side)) {
      return "TC-03 (VAL): one who tried was refused though there was enough for everybody";
    }
    return {};
  }

  /// Nothing can happen any more.
  [[nodiscard]] Complaint at_rest() const {
    for (const Side side : {Side::Sender, Side::Receiver}) {
      if (inside(side) == 0) continue;
      const std::string who = side == Side::Sender ? "a sender" : "a receiver";
      if (closed_) return "TC-04 (WAKE): " + who + " sleeps at a closed channel";
      if (free_for(side) > 0) return "TC-03 (WAKE): " + who + " sleeps beside what it waits for";
    }
    return {};
  }

 private:
  struct Call {
    std::size_t number;
    Side side;
    std::vector<std::size_t> earlier;  // Calls that were in line before it came.
  };

  [[nodiscard]] static std::string name(int tag) { return "value " + std::to_string(tag); }

  [[nodiscard]] bool is_over_for(Side side) const {
    return closed_ && (side == Side::Sender || values_.empty());
  }
  /// Slots for senders, values for receivers.
  [[nodiscard]] std::size_t free_for(Side side) const {
    return side == Side::Sender ? capacity_ - values_.size() : values_.size();
  }
  [[nodiscard]] std::size_t inside(Side side) const {
    return static_cast<std::size_t>(
        std::count_if(calls_.begin(), calls_.end(), [&](const Call& c) { return c.side == side; }));
  }

  // Those who came first and are still inside have been promised theirs, so there was more.
  [[nodiscard]] Complaint served(std::size_t number, std::size_t there) {
    const std::vector<std::size_t> earlier = find(number)->earlier;
    const auto ahead = std::count_if(earlier.begin(), earlier.end(),
                                     [&](auto other) { return find(other) != calls_.end(); });
    erase(number);
    if (there > static_cast<std::size_t>(ahead)) return {};
    return "TC-03 (FIFO): one was served from " + std::to_string(there) + " before " +
           std::to_string(ahead) + " who waited first";
  }

  [[nodiscard]] std::vector<Call>::iterator find(std::size_t number) {
    return std::find_if(calls_.begin(), calls_.end(),
                        [&](const Call& call) { return call.number == number; });
  }
  Side erase(std::size_t number) {
    const auto call = find(number);
    const Side side = call->side;
    calls_.erase(call);
    return side;
  }

  std::size_t capacity_;
  std::deque<int> values_;
  std::vector<Call> calls_;  // That have not returned, in the order in which they were made.
  std::size_t next_call_ = 0;
  bool closed_ = false;
};

}  // namespace fermata::models
