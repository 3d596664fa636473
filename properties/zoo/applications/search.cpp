// SPDX-License-Identifier: Apache-2.0
#include "properties/zoo/applications/search.hpp"

#include <utility>

#include "fermata/sim/run/test_failures.hpp"
#include "fermata/sim/tape/decisions.hpp"

namespace fermata::properties::zoo {
namespace {

constexpr std::uint64_t kAnswersTried = 40;

std::vector<std::uint64_t> answers_to_try(std::uint64_t bound) {
  if (bound == 0) return {1, 2, ~std::uint64_t{0}};
  if (bound > kAnswersTried) return {1, 2, bound / 2, bound - 1};
  std::vector<std::uint64_t> all;
  for (std::uint64_t answer = 1; answer < bound; ++answer) all.push_back(answer);
  return all;
}

class Search {
 public:
  explicit Search(const Application& application) : body_(application.body) {}

  std::optional<sim::Failure> run(const std::vector<Deviation>& tape) {
    strategy_.deviations = tape;
    world_.reset();
    expectations_.belong_to(world_);
    decisions_.begin(0);
    world_.node("main", [this] { body_(world_, Variant::Buggy); });
    world_.run();
    decisions_.end();
    ++result_.runs;
    return world_.failure();
  }

  /// Whether `tape`, or one that begins with it and has up to `more` decisions more, fails.
  bool fails(std::vector<Deviation>& tape, std::size_t more) {
    if (auto failure = run(tape)) {
      result_.failure = std::move(failure);
      result_.tape = tape;
      return true;
    }
    if (more == 0) return false;
    const std::vector<std::uint64_t> bounds = strategy_.bounds();
    const std::size_t first = tape.empty() ? 0 : tape.back().draw + 1;
    for (std::size_t draw = first; draw < bounds.size(); ++draw) {
      for (const std::uint64_t answer : answers_to_try(bounds[draw])) {
        tape.push_back({draw, answer});
        if (fails(tape, more - 1)) return true;
        tape.pop_back();
      }
    }
    return false;
  }

  [[nodiscard]] SearchResult result() && { return std::move(result_); }

 private:
  void (*body_)(sim::World& world, Variant variant);
  DeviatingStrategy strategy_;
  sim::Decisions decisions_{strategy_};
  sim::World world_{decisions_};
  sim::detail::TestFailures expectations_;
  SearchResult result_;
};

}  // namespace

std::uint64_t DeviatingStrategy::answer(std::uint64_t bound) {
  const std::size_t index = bounds_.size();
  bounds_.push_back(bound);
  if (next_ == deviations.size() || deviations[next_].draw != index) return 0;
  return deviations[next_++].answer;
}

SearchResult try_all_tapes(const Application& application, std::size_t most) {
  Search search(application);
  std::vector<Deviation> tape;
  static_cast<void>(search.fails(tape, most));
  return std::move(search).result();
}

std::optional<sim::Failure> run_buggy(const Application& application, std::vector<Deviation> tape) {
  return Search(application).run(tape);
}

}  // namespace fermata::properties::zoo
