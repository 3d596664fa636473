// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a wait for several things must come to: told of each end in the order in which they happen,
// it knows when the wait is settled, and with what.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class JointModel {
 public:
  struct Rule {
    std::size_t needed;  // More than there are items: all.
    bool ignore_errors;
  };

  /// `items` are the things waited for, one for each key; one may stand there several times.
  JointModel(Rule rule, std::vector<std::size_t> items) : rule_(rule), items_(std::move(items)) {
    settle_if_satisfied();
  }

  /// What has ended before the wait answers first, in the order of the keys.
  template <class HasEnded, class Succeeded>
  void begin(HasEnded has_ended, Succeeded succeeded) {
    for (std::size_t key = 0; key < items_.size(); ++key) {
      if (has_ended(items_[key])) answer(key, succeeded(items_[key]));
    }
  }

  void ended(std::size_t item, bool success) {
    for (std::size_t key = 0; key < items_.size(); ++key) {
      if (items_[key] == item) answer(key, success);
    }
  }

  [[nodiscard]] bool settled() const noexcept { return settled_; }
  /// Settled by a failure.
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  /// Under how many keys the item is waited for.
  [[nodiscard]] std::size_t count_of(std::size_t item) const {
    return static_cast<std::size_t>(std::count(items_.begin(), items_.end(), item));
  }
  [[nodiscard]] std::size_t item_at(std::size_t key) const { return items_[key]; }
  /// Keys, in the order in which they answered.
  [[nodiscard]] const std::vector<std::size_t>& values() const noexcept { return values_; }
  [[nodiscard]] const std::vector<std::size_t>& errors() const noexcept { return errors_; }

  /// The wait has returned with the values and errors of these keys.
  [[nodiscard]] Complaint returned(std::vector<std::size_t> values, std::vector<std::size_t> errors,
                                   bool in_order_of_keys) const {
    if (!settled_) return "CORE-AW-11 (WAKE): the wait has returned before it was settled";
    if (failed_) return "CORE-AW-02 (ERR): the wait has returned, and an item had failed";
    if (Complaint wrong = compare("CORE-AW-04", "values", values_, values, in_order_of_keys);
        !wrong.empty()) {
      return wrong;
    }
    if (!rule_.ignore_errors) return {};
    return compare("CORE-AW-03", "errors", errors_, errors, in_order_of_keys);
  }

  /// The wait has thrown the error of `item`.
  [[nodiscard]] Complaint thrown(std::size_t item) const {
    if (failed_ && items_[errors_.front()] == item) return {};
    return "CORE-AW-02 (ERR): the wait has thrown the error of item " + std::to_string(item) +
           ", which was not the first to end it";
  }

 private:
  void answer(std::size_t key, bool success) {
    if (settled_) return;
    (success ? values_ : errors_).push_back(key);
    if (!success && !rule_.ignore_errors) settled_ = failed_ = true;
    settle_if_satisfied();
  }

  void settle_if_satisfied() {
    const std::size_t all = values_.size() + errors_.size();
    const std::size_t count = rule_.ignore_errors ? values_.size() : all;
    if (count >= rule_.needed || all >= items_.size()) settled_ = true;
  }

  // The keys of one item answer together, in whatever order.
  [[nodiscard]] Complaint compare(const char* rule, const char* what,
                                  const std::vector<std::size_t>& expected,
                                  const std::vector<std::size_t>& got,
                                  bool in_order_of_keys) const {
    std::vector<std::size_t> items = items_of(got);
    std::vector<std::size_t> expected_items = items_of(expected);
    std::vector<std::size_t> keys = got;
    std::sort(keys.begin(), keys.end());
    bool right = std::adjacent_find(keys.begin(), keys.end()) == keys.end();
    if (in_order_of_keys) {
      right = right && keys == got;
      std::sort(items.begin(), items.end());
      std::sort(expected_items.begin(), expected_items.end());
    }
    if (right && items == expected_items) return {};
    return std::string(rule) + " (VAL): the " + what + " have the keys" + text_of(got) +
           ", expected" + text_of(expected);
  }

  [[nodiscard]] std::vector<std::size_t> items_of(const std::vector<std::size_t>& keys) const {
    std::vector<std::size_t> items;
    for (const std::size_t key : keys) items.push_back(items_[key]);
    return items;
  }

  static std::string text_of(const std::vector<std::size_t>& keys) {
    std::string text;
    for (const std::size_t key : keys) text += " " + std::to_string(key);
    return text.empty() ? " none" : text;
  }

  Rule rule_;
  std::vector<std::size_t> items_;
  std::vector<std::size_t> values_;
  std::vector<std::size_t> errors_;
  bool settled_ = false;
  bool failed_ = false;
};

}  // namespace fermata::models
