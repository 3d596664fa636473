// SPDX-License-Identifier: Apache-2.0
#pragma once

// Transfers of two legs each: what the books say beside what those who made them know.

#include <cstdint>
#include <map>
#include <string>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class TransfersModel {
 public:
  static constexpr int kLegs = 2;

  // --- whoever makes one ---

  [[nodiscard]] std::int64_t begun() {
    transfers_[++last_id_] = {};
    return last_id_;
  }
  /// From now on it may be in the books.
  void asked_for(std::int64_t id) { transfers_[id].known = Known::Nothing; }
  void confirmed(std::int64_t id) { transfers_[id].known = Known::Done; }

  // --- the books ---

  void booked(std::int64_t id, std::int64_t amount) {
    ++transfers_[id].legs;
    balance_ += amount;
  }

  /// Nobody does anything any more.
  [[nodiscard]] Complaint at_end() const {
    for (const auto& [id, transfer] : transfers_) {
      const std::string begin = "transfer " + std::to_string(id);
      if (transfer.legs != 0 && transfer.legs != kLegs) {
        return "DB-04 (ISO): " + begin + " has " + std::to_string(transfer.legs) + " of its " +
               std::to_string(kLegs) + " legs in the books";
      }
      if (transfer.known == Known::Done && transfer.legs == 0) {
        return "DB-04 (ONCE): " + begin + " was confirmed, and is not in the books";
      }
      if (transfer.known == Known::NotDone && transfer.legs != 0) {
        return "DB-05 (ONCE): " + begin + " was left half-way, and is in the books";
      }
    }
    if (balance_ == 0) return {};
    return "DB-04 (VAL): the books are off by " + std::to_string(balance_);
  }

 private:
  enum class Known { NotDone, Nothing, Done };
  struct Transfer {
    Known known = Known::NotDone;
    int legs = 0;
  };

  std::int64_t last_id_ = 0;
  std::int64_t balance_ = 0;
  std::map<std::int64_t, Transfer> transfers_;
};

}  // namespace fermata::models
