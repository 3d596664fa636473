// SPDX-License-Identifier: Apache-2.0
#pragma once

// A channel as its users see it: a ledger of tagged values, and who waits on either side.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"
#include "properties/models/line_model.hpp"

namespace fermata::models {

/// What a channel says of itself.
struct ChannelFigures {
  std::size_t capacity = 0;
  std::size_t count = 0;
  std::size_t receivers = 0;
  std::size_t senders = 0;
  std::size_t reserved_receivers = 0;
  std::size_t reserved_senders = 0;
  bool closed = false;

  [[nodiscard]] std::size_t slots() const { return std::max<std::size_t>(capacity, 1); }
};

class ChannelModel {
 public:
  // --- the ledger ---

  /// A value that `sender` offers from now on; returns its tag.
  [[nodiscard]] int offered(std::size_t sender) {
    values_.push_back({sender, Fate::Offered});
    return static_cast<int>(values_.size()) - 1;
  }

  /// The sender was told that the channel has the value.
  [[nodiscard]] Complaint accepted(int tag) {
    Value& value = values_[static_cast<std::size_t>(tag)];
    if (value.fate == Fate::TakenEarly) {
      value.fate = Fate::Received;
    } else {
      value.fate = Fate::Stored;
      stored_.push_back(tag);
    }
    return {};
  }

  /// The sender was told that the channel does not have it. Only a cancellation leaves that open:
  /// then the value may be `in_channel` all the same.
  [[nodiscard]] Complaint refused(int tag, bool cancelled, bool in_channel) {
    Value& value = values_[static_cast<std::size_t>(tag)];
    if (value.fate == Fate::TakenEarly && !cancelled) {
      return "CHAN-01 (VAL): value " + std::to_string(tag) +
             " was received, and its sender was told that it was refused";
    }
    const Fate untaken = cancelled && in_channel ? Fate::Doubtful : Fate::Refused;
    value.fate = value.fate == Fate::TakenEarly ? Fate::Received : untaken;
    return {};
  }

  /// Somebody has it. `doomed(sender)`: whether that one is on its way back with an error.
  template <class Doomed>
  [[nodiscard]] Complaint received(int tag, Doomed doomed) {
    if (tag < 0 || static_cast<std::size_t>(tag) >= values_.size()) {
      return "CHAN-01 (VAL): value " + std::to_string(tag) + " was received, and never sent";
    }
    Value& value = values_[static_cast<std::size_t>(tag)];
    if (value.fate == Fate::Refused) {
      return "CHAN-01, CHAN-11 (VAL): value " + std::to_string(tag) +
             " was refused, and received all the same";
    }
    if (value.fate == Fate::Doubtful) {
      value.fate = Fate::Received;
      return {};
    }
    if (value.fate != Fate::Offered && value.fate != Fate::Stored) {
      return "CHAN-01 (VAL): value " + std::to_string(tag) + " was received twice";
    }
    if (!stored_.empty() && stored_.front() != tag) {
      return "CHAN-02 (FIFO): value " + std::to_string(tag) + " was received before value " +
             std::to_string(stored_.front()) + ", which was sent first";
    }
    if (value.fate == Fate::Stored) {
      stored_.pop_front();
      value.fate = Fate::Received;
      return {};
    }
    value.fate = Fate::TakenEarly;
    if (!doomed(value.sender)) return {};
    return "CHAN-11 (VAL): value " + std::to_string(tag) +
           " was received when its sender had been cancelled already";
  }

  // --- who waits ---

  LineModel receivers;
  LineModel senders;

  // --- at any time ---

  [[nodiscard]] static Complaint figures_are_sound(const ChannelFigures& now) {
    if (now.count > now.slots()) {
      return "CHAN-15 (CAP): " + std::to_string(now.count) + " values in a channel of " +
             std::to_string(now.capacity);
    }
    if (now.reserved_receivers > now.count) {
      return "CHAN-03 (REF): " + std::to_string(now.reserved_receivers) +
             " receivers have been promised " + std::to_string(now.count) + " values";
    }
    if (!now.closed && now.reserved_senders > now.slots() - now.count) {
      return "CHAN-03 (REF): " + std::to_string(now.reserved_senders) +
             " senders have been promised " + std::to_string(now.slots() - now.count) + " slots";
    }
    return {};
  }

  /// Values that were accepted, and not received.
  [[nodiscard]] std::size_t stored() const { return stored_.size(); }

  /// Checks that a call that has ended, with or without success, has left nothing behind.
  [[nodiscard]] Complaint recount(const ChannelFigures& now) const {
    const bool rendezvous = now.capacity == 0;
    if (now.count < stored_.size() || (!rendezvous && now.count > stored_.size())) {
      return "CHAN-14 (VAL): " + std::to_string(stored_.size()) + " values were accepted, and " +
             std::to_string(now.count) + " are counted";
    }
    if (now.closed) return {};
    if (Complaint complaint = receivers.recount(now.receivers); !complaint.empty()) {
      return "CHAN-04, " + complaint;
    }
    const auto untold = static_cast<std::size_t>(
        std::count_if(values_.begin(), values_.end(),
                      [](const Value& value) { return value.fate == Fate::TakenEarly; }));
    // The value of a select that stood in line for a rendezvous may be stored before it is told.
    const bool stored_untold = rendezvous && now.count > stored_.size() &&
                               senders.line().size() == now.senders + untold + 1;
    const std::size_t told_later = untold + (stored_untold ? 1 : 0);
    if (Complaint complaint = senders.recount(now.senders + told_later); !complaint.empty()) {
      return "CHAN-04, " + complaint;
    }
    return {};
  }

  /// Nothing can happen any more.
  [[nodiscard]] Complaint is_at_rest(const ChannelFigures& now) const {
    if (now.reserved_receivers + now.reserved_senders > 0) {
      return "CHAN-04 (REF): a promise is open, and nobody is on its way to take it";
    }
    if (now.receivers > 0 && (now.count > 0 || now.closed)) {
      return now.closed ? "CHAN-12 (WAKE): a receiver sleeps at a closed channel"
                        : "CHAN-08 (WAKE): a receiver sleeps beside a value";
    }
    if (now.senders > 0 && (now.count < now.slots() || now.closed)) {
      return now.closed ? "CHAN-12 (WAKE): a sender sleeps at a closed channel"
                        : "CHAN-08 (WAKE): a sender sleeps beside a free slot";
    }
    return {};
  }

  /// Everything that could be received has been.
  [[nodiscard]] Complaint conserved() const {
    if (stored_.empty()) return {};
    return "CHAN-14 (VAL): value " + std::to_string(stored_.front()) + " was accepted, and is lost";
  }

 private:
  enum class Fate {
    Offered,     // its sender has not been told anything
    TakenEarly,  // received before its sender was told
    Stored,
    Received,
    Refused,
    Doubtful,  // its sender was cancelled at a rendezvous, when a value was in it
  };
  struct Value {
    std::size_t sender;
    Fate fate;
  };

  std::vector<Value> values_;
  std::deque<int> stored_;
};

}  // namespace fermata::models
