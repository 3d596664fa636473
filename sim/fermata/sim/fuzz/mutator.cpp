// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fuzz/mutator.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "fermata/base/assert.hpp"

namespace fermata::sim {
namespace {

constexpr std::array<std::uint8_t, 5> kDensities = {0, 16, 64, 160, Noise::kEverywhere};

std::size_t index_below(std::size_t bound, Random& random) {
  FERMATA_ASSERT(bound > 0);
  return static_cast<std::size_t>(random.below(bound));
}

class Mutation {
 public:
  Mutation(FuzzInput& input, std::span<const AskedDraw> asked, const MutationLimits& limits,
           Random& random) noexcept
      : input_(input), asked_(asked), limits_(limits), random_(random) {}

  void apply() {
    const std::uint64_t kind = random_.below(16);
    if (kind < 9) return answer_one();
    if (kind < 10) return forget_one();
    if (kind < 12) return change_value();
    if (kind < 14) return rename_noise();
    if (kind < 15) return change_density();
    limits_.seed&& random_.below(2) == 0 ? reseed() : forget_many();
  }

 private:
  /// Each stream that is asked at all is as likely as any other.
  [[nodiscard]] backend::RandomStream some_stream() {
    if (asked_.empty()) return static_cast<backend::RandomStream>(random_.below(kStreams));
    std::array<bool, kStreams> present{};
    for (const AskedDraw& draw : asked_) present[static_cast<std::size_t>(draw.stream)] = true;
    auto left =
        random_.below(static_cast<std::uint64_t>(std::count(present.begin(), present.end(), true)));
    std::size_t stream = 0;
    while (!present[stream] || left-- > 0) ++stream;
    FERMATA_ASSERT(stream < kStreams);
    return static_cast<backend::RandomStream>(stream);
  }

  [[nodiscard]] const AskedDraw& some_draw() {
    FERMATA_ASSERT(!asked_.empty());
    const backend::RandomStream stream = some_stream();
    std::size_t at = index_below(asked_.size(), random_);
    while (asked_[at].stream != stream) at = (at + 1) % asked_.size();
    return asked_[at];
  }

  [[nodiscard]] std::uint32_t some_value(std::uint64_t bound) {
    constexpr std::uint64_t kFew = 4;
    const std::uint64_t most =
        bound == 0 ? Answer::kValueBound : std::min<std::uint64_t>(bound, Answer::kValueBound);
    FERMATA_ASSERT(most > 0);
    const bool small = random_.below(2) == 0;
    return static_cast<std::uint32_t>(random_.below(small ? std::min(most, kFew) : most));
  }

  void answer_one() {
    if (asked_.empty()) return rename_noise();
    const AskedDraw& draw = some_draw();
    const bool is_new = input_.find(draw.stream, draw.key) == nullptr;
    if (is_new && input_.answers().size() >= limits_.answers) forget_one();
    if (is_new && input_.answers().size() >= limits_.answers) return;
    std::uint32_t value = some_value(draw.bound);
    const bool calm_anyway = is_new && input_.noise(draw.stream).density == 0;
    if (value == 0 && calm_anyway) value = 1;
    FERMATA_ASSERT(value < Answer::kValueBound);
    input_.set(Answer{draw.stream, draw.key, value});
  }

  void forget_one() {
    if (input_.answers().empty()) return change_density();
    input_.erase(index_below(input_.answers().size(), random_));
  }

  void forget_many() {
    for (std::size_t i = input_.answers().size(); i-- > 0;) {
      if (random_.below(2) == 0) input_.erase(i);
    }
  }

  void change_value() {
    if (input_.answers().empty()) return answer_one();
    Answer answer = input_.answers()[index_below(input_.answers().size(), random_)];
    switch (random_.below(3)) {
      case 0:
        answer.value = (answer.value + 1) % Answer::kValueBound;
        break;
      case 1:
        answer.value = answer.value == 0 ? 0 : answer.value - 1;
        break;
      default:
        answer.value = some_value(0);
    }
    FERMATA_ASSERT(answer.value < Answer::kValueBound);
    input_.set(answer);
  }

  void rename_noise() {
    Noise& noise = input_.noise(some_stream());
    noise.name = static_cast<std::uint16_t>(random_.next());
    if (noise.density == 0) change(noise);
  }

  void change_density() { change(input_.noise(some_stream())); }
  void change(Noise& noise) { noise.density = kDensities[random_.below(kDensities.size())]; }

  void reseed() { input_.seed = random_.next(); }

  FuzzInput& input_;
  std::span<const AskedDraw> asked_;
  const MutationLimits& limits_;
  Random& random_;
};

void keep_within(FuzzInput& input, const MutationLimits& limits, Random& random) {
  while (input.answers().size() > limits.answers) {
    input.erase(index_below(input.answers().size(), random));
  }
  FERMATA_ASSERT(input.answers().size() <= limits.answers);
}

/// Whether `input` says anything about `stream`.
bool speaks_of(const FuzzInput& input, backend::RandomStream stream) noexcept {
  const std::vector<Answer>& answers = input.answers();
  return input.noise(stream) != Noise() ||
         std::any_of(answers.begin(), answers.end(),
                     [stream](const Answer& answer) { return answer.stream == stream; });
}

/// The answers of `from` to draws of `stream`; where `into` has one that stays, unless `wins`.
void take_answers(FuzzInput& into, const FuzzInput& from, backend::RandomStream stream, bool wins) {
  FERMATA_ASSERT(&into != &from);
  for (const Answer& answer : from.answers()) {
    if (answer.stream != stream) continue;
    if (wins || into.find(stream, answer.key) == nullptr) into.set(answer);
  }
}

/// What the strategy `random` would do: whatever that finds soon is found soon.
void start_afresh(FuzzInput& input, Random& random) {
  input.clear();
  for (std::size_t i = 0; i < kStreams; ++i) {
    input.noise(static_cast<backend::RandomStream>(i)) = {static_cast<std::uint16_t>(random.next()),
                                                          Noise::kEverywhere};
  }
}

}  // namespace

// Most often one change: libFuzzer calls this up to five times before it takes another input.
void mutate(FuzzInput& input, std::span<const AskedDraw> asked, const MutationLimits& limits,
            Random& random) {
  constexpr std::uint64_t kMostChanges = 4;
  if (random.below(8) == 0) return start_afresh(input, random);
  keep_within(input, limits, random);
  const std::uint64_t more = random.below(4) == 0 ? random.below(kMostChanges) : 0;
  for (std::uint64_t i = 0; i <= more; ++i) Mutation(input, asked, limits, random).apply();
}

FuzzInput cross_over(const FuzzInput& one, const FuzzInput& other, const MutationLimits& limits,
                     Random& random) {
  FuzzInput child = one;
  if (limits.seed && random.below(8) == 0) child.seed = other.seed;
  std::vector<backend::RandomStream> streams;
  for (std::size_t i = 0; i < kStreams; ++i) {
    if (speaks_of(other, static_cast<backend::RandomStream>(i)))
      streams.push_back(static_cast<backend::RandomStream>(i));
  }
  if (!streams.empty()) {
    const backend::RandomStream stream = streams[index_below(streams.size(), random)];
    const std::uint64_t kind = random.below(4);
    if (kind == 0) {
      child.noise(stream) = other.noise(stream);
    } else {
      take_answers(child, other, stream, kind == 1);
    }
  }
  keep_within(child, limits, random);
  FERMATA_ASSERT(child.answers().size() <= limits.answers);
  return child;
}

}  // namespace fermata::sim
