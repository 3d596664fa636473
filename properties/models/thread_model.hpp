// SPDX-License-Identifier: Apache-2.0
#pragma once

// The life of one thread, as it tells it itself, and which outcome that allows.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class ThreadModel {
 public:
  enum class Plan : std::uint8_t {
    Return,
    Throw,
    Refuse,  // what runs before its task fails
    Exit,
    ShutDown,
    Sleep,  // until it is cancelled
    Doze,   // longer than anything else takes
  };
  enum class End : std::uint8_t { None, Returned, Threw, Cancelled };

  ThreadModel(Plan p, std::size_t n) : plan(p), number(n) {}

  const Plan plan;
  const std::size_t number;
  End end = End::None;                                 // Of its main coroutine.
  bool shut_down = false;                              // By itself.
  std::vector<std::shared_ptr<ThreadModel>> children;  // Threads that it has started.
  int results = 0;                                     // That exist.
  int belongings = 0;  // What it has captured, and what its coroutines have.
  const void* result = nullptr;
  int handlers = 0;
  int handlers_run = 0;

  /// Its task begins.
  [[nodiscard]] Complaint begin() {
    if (begun_) return about("begins again (ONCE)");
    begun_ = true;
    if (plan == Plan::Refuse) return about("begins though it has failed before (ONCE)");
    return cancelled_ ? about("begins after it was cancelled (CANC)") : Complaint();
  }
  /// Somebody has asked it to stop.
  void cancelled() { cancelled_ = true; }

  /// Nothing ends it.
  [[nodiscard]] bool may_stay() const { return plan == Plan::Sleep && !cancelled_; }

  /// It is said to have ended: then nothing of it is left.
  [[nodiscard]] Complaint is_over() const {
    if (begun_ && end == End::None) return about("is told to have ended, and runs (TIME)");
    if (belongings > 0) return about("has ended, and something of it is left (REF)");
    const bool alone = std::all_of(children.begin(), children.end(),
                                   [](const auto& child) { return child->is_over().empty(); });
    return alone ? Complaint() : about("has ended before a thread of its own (SHUT)");
  }

  // --- what is told of its end ---

  [[nodiscard]] Complaint succeeded() const {
    return end == End::Returned && plan != Plan::Exit ? Complaint()
                                                      : about("is told to have succeeded (ERR)");
  }
  [[nodiscard]] Complaint failed_with(std::size_t error) const {
    return end == End::Threw && error == number ? Complaint()
                                                : about("is told to have failed (ERR)");
  }
  [[nodiscard]] Complaint exited() const {
    return plan == Plan::Exit && begun_ ? Complaint() : about("is told to have exited (ERR)");
  }
  [[nodiscard]] Complaint was_cancelled() const {
    const bool ended_so = end == End::Cancelled || !begun_;
    return ended_so && may_be_cancelled() ? Complaint() : about("is told to be cancelled (CANC)");
  }

  /// Nothing can happen any more.
  [[nodiscard]] Complaint at_rest() const {
    if (may_stay()) return {};
    if (handlers_run != handlers) return about("has ended, and not each handler ran once (ONCE)");
    if (results > 1) return about("has two results (REF)");
    return is_over();
  }
  /// Whether a thread that nobody else shuts down has waited for the threads it started, or shut
  /// them down.
  [[nodiscard]] Complaint has_ended_children() const {
    for (const auto& child : children) {
      const bool to_its_end = child->end == End::Returned;
      if (shut_down && to_its_end) return about("did not shut down a thread of its own (SHUT)");
      if (end == End::Returned && !to_its_end) {
        return about("did not wait for a thread of its own (SHUT)");
      }
    }
    return {};
  }
  /// The handles are gone.
  [[nodiscard]] Complaint at_end() const {
    return results == 0 ? Complaint() : about("leaves its result behind (REF)");
  }

 private:
  [[nodiscard]] bool may_be_cancelled() const { return cancelled_ || plan == Plan::ShutDown; }

  [[nodiscard]] Complaint about(const std::string& what) const {
    return "THR-05, THR-07: thread " + std::to_string(number) + ' ' + what;
  }

  bool begun_ = false;
  bool cancelled_ = false;
};

}  // namespace fermata::models
