// SPDX-License-Identifier: Apache-2.0
#include "tests/posix/scripts/script.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace fermata::test {

namespace {

/// Draws a script, and keeps in mind what its slots are thought to be.
class Drawing {
 public:
  explicit Drawing(std::uint64_t number) : generator_(number) {}

  Script draw() {
    constexpr std::size_t kOneIsInPages = 10;
    constexpr std::size_t kOneHasIpv6 = 5;
    in_pages_ = below(kOneIsInPages) == 0;
    ipv6_ = below(kOneHasIpv6) == 0;
    const std::size_t begun = 1 + below(3);
    for (std::size_t i = 0; i < begun; ++i) open_something();
    const std::size_t length = 4 + below(22);
    while (script_.size() < length) {
      const Operation& drawn = any_operation();
      const Kinds made = drawn.makes[0];
      const bool makes_socket = made != kind::kAny && (made & kind::kSocket) != 0;
      if (!in_pages_ || !makes_socket) add(drawn, false);
    }
    return std::move(script_);
  }

 private:
  void open_something() {
    const std::span<const std::vector<Perform*>> all = openings();
    const std::size_t drawn = in_pages_ ? kPipeOpening : below(all.size());
    for (Perform* const each : all[drawn]) add(operation_of(each), true);
  }

  // Not std::uniform_int_distribution, which each library has in its own way.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(generator_() % bound); }

  static const Operation& operation_of(Perform* perform) {
    const std::span<const Operation> all = operations();
    return *std::find_if(all.begin(), all.end(),
                         [&](const Operation& each) { return each.perform == perform; });
  }

  const Operation& any_operation() {
    const std::span<const Operation> all = operations();
    const unsigned sum = std::accumulate(
        all.begin(), all.end(), 0u,
        [](unsigned before, const Operation& each) { return before + each.weight; });
    std::size_t left = below(sum);
    for (const Operation& each : all) {
      if (left < each.weight) return each;
      left -= each.weight;
    }
    return all.front();
  }

  /// Mostly a slot that fits; of those, the `latest` if so wanted.
  int slot_for(Kinds wanted, bool latest) {
    constexpr std::size_t kOneInSlotsDoesNotFit = 12;
    if (wanted == kind::kNone || kinds_.empty()) return kNoSlot;
    std::vector<int> fitting;
    const bool any = !latest && below(kOneInSlotsDoesNotFit) == 0;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (any || (kinds_[i] & wanted) != 0) fitting.push_back(static_cast<int>(i));
    }
    if (fitting.empty()) return static_cast<int>(below(kinds_.size()));
    return latest ? fitting.back() : fitting[below(fitting.size())];
  }

  void add(const Operation& operation, bool opening) {
    Step step;
    step.operation = &operation;
    step.first = slot_for(operation.first, opening);
    step.second = slot_for(operation.second, opening);
    // Openings fit together: the first choice of each.
    step.value = opening ? 0 : generator_();
    step.in_pages = in_pages_;
    step.ipv6 = ipv6_;
    for (std::size_t i = 0; i < 2 && operation.makes[i] != kind::kNone; ++i) {
      if (kinds_.size() == kSlots) return;
      // What is made of any kind is a duplicate.
      const bool duplicate = operation.makes[i] == kind::kAny;
      if (duplicate && step.first == kNoSlot) return;
      step.made[i] = static_cast<int>(kinds_.size());
      kinds_.push_back(duplicate ? kinds_[static_cast<std::size_t>(step.first)]
                                 : operation.makes[i]);
    }
    if (operation.becomes != kind::kNone && step.first != kNoSlot) {
      kinds_[static_cast<std::size_t>(step.first)] = operation.becomes;
    }
    script_.push_back(step);
  }

  std::mt19937_64 generator_;
  bool in_pages_ = false;
  bool ipv6_ = false;
  std::vector<Kinds> kinds_;
  Script script_;
};

}  // namespace

Script draw_script(std::uint64_t number) { return Drawing(number).draw(); }

std::vector<Answer> perform(const Script& script, const std::function<void()>& settle) {
  std::vector<Answer> answers;
  Run run;
  for (const Step& each : script) {
    answers.push_back(each.operation->perform(run, each));
    settle();
    ++run.step;
  }
  return answers;
}

}  // namespace fermata::test
