// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one iteration may do: hand out each element once, in order, to so many callbacks at a time,
// and come back when nothing of it is left.

#include <cstddef>
#include <optional>
#include <string>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class IterationModel {
 public:
  /// `limit` 0: any number of callbacks at a time.
  IterationModel(std::size_t elements, std::size_t limit) : elements_(elements), limit_(limit) {}

  /// Somebody asks for the next element.
  [[nodiscard]] Complaint asked() {
    if (asking_) return "CORE-IT-07 (ONCE): the source is asked while it is being asked";
    if (exhausted_) return "CORE-IT-07 (ONCE): the source is asked after its end";
    asking_ = true;
    return {};
  }
  void answered(bool with_element) {
    asking_ = false;
    exhausted_ = !with_element;
  }
  /// The source was left by an exception.
  void broke() {
    asking_ = false;
    exhausted_ = true;
  }

  [[nodiscard]] Complaint started(std::size_t element) {
    ++running_;
    if (element != next_++) {
      return "CORE-IT-01 (VAL): element " + std::to_string(element) + " is handed out as number " +
             std::to_string(next_ - 1);
    }
    if (limit_ > 0 && running_ > limit_) {
      return "CORE-IT-02 (CAP): " + std::to_string(running_) + " callbacks run, the limit is " +
             std::to_string(limit_);
    }
    if (over_) return "CORE-IT-04 (SHUT): a callback starts after the end of the iteration";
    return {};
  }
  void ended() { --running_; }

  /// A callback wants no more, or has failed.
  void stopped() { over_ = true; }
  void failed(std::size_t element) {
    over_ = true;
    if (!first_failure_) first_failure_ = element;
  }

  /// iterate() has returned, or thrown something else than a failure.
  [[nodiscard]] Complaint returned(bool cancelled) const {
    if (running_ > 0) return still_running();
    if (first_failure_ && !cancelled) return "CORE-IT-06 (ERR): a callback has failed, in silence";
    if (!over_ && !cancelled && next_ != elements_) {
      return "CORE-IT-01 (VAL): " + std::to_string(next_) + " of " + std::to_string(elements_) +
             " elements were handed out";
    }
    return {};
  }
  /// iterate() has thrown the failure of `element`.
  [[nodiscard]] Complaint thrown(std::size_t element) const {
    if (running_ > 0) return still_running();
    if (first_failure_ == element) return {};
    return "CORE-IT-06 (ERR): the failure of element " + std::to_string(element) +
           " is thrown, it was not the first";
  }

 private:
  [[nodiscard]] Complaint still_running() const {
    return "CORE-IT-05 (DL-): the iteration is over, and " + std::to_string(running_) +
           " callbacks run";
  }

  std::size_t elements_;
  std::size_t limit_;
  std::size_t next_ = 0;
  std::size_t running_ = 0;
  bool asking_ = false;
  bool exhausted_ = false;
  bool over_ = false;
  std::optional<std::size_t> first_failure_;
};

}  // namespace fermata::models
