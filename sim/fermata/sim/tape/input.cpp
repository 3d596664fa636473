// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/input.hpp"

#include <algorithm>
#include <iterator>

namespace fermata::sim {
namespace {

bool in_order(const Answer& a, const Answer& b) noexcept { return a.before(b); }

/// What follows in a row of bytes, and zeros after its end.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) noexcept : bytes_(bytes) {}

  std::uint64_t number(std::size_t size) noexcept {
    FERMATA_ASSERT(size <= sizeof(std::uint64_t));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size && at_ < bytes_.size(); ++i, ++at_) {
      value |= std::uint64_t{bytes_[at_]} << (8 * i);
    }
    return value;
  }
  [[nodiscard]] std::size_t left() const noexcept {
    FERMATA_ASSERT(at_ <= bytes_.size());
    return bytes_.size() - at_;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

void append(std::vector<std::uint8_t>& bytes, std::uint64_t value, std::size_t size) {
  FERMATA_ASSERT(size <= sizeof(value));
  FERMATA_ASSERT(size == sizeof(value) || value >> (8 * size) == 0);
  for (std::size_t i = 0; i < size; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
}

}  // namespace

FuzzInput FuzzInput::decode(std::span<const std::uint8_t> bytes) {
  ByteReader reader(bytes);
  FuzzInput input;
  input.seed = reader.number(8);
  for (Noise& noise : input.noise_) {
    noise.name = static_cast<std::uint16_t>(reader.number(2));
    noise.density = static_cast<std::uint8_t>(reader.number(1));
  }
  FERMATA_ASSERT(bytes.size() < kHeaderBytes || reader.left() == bytes.size() - kHeaderBytes);
  while (reader.left() >= kAnswerBytes) {
    const std::uint64_t stream = reader.number(1);
    const auto value = static_cast<std::uint32_t>(reader.number(3));
    const auto key = static_cast<std::uint32_t>(reader.number(4));
    if (stream >= kStreams) continue;
    input.answers_.push_back(Answer{static_cast<backend::RandomStream>(stream), key, value});
  }
  std::vector<Answer>& answers = input.answers_;
  std::stable_sort(answers.begin(), answers.end(), in_order);
  const auto end = std::unique(answers.begin(), answers.end(),
                               [](const Answer& a, const Answer& b) { return a.same_draw(b); });
  answers.erase(end, answers.end());
  return input;
}

std::vector<std::uint8_t> FuzzInput::encode() const {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(kHeaderBytes + answers_.size() * kAnswerBytes);
  append(bytes, seed, 8);
  for (const Noise& noise : noise_) {
    append(bytes, noise.name, 2);
    append(bytes, noise.density, 1);
  }
  for (const Answer& answer : answers_) {
    append(bytes, static_cast<std::uint64_t>(answer.stream), 1);
    append(bytes, answer.value, 3);
    append(bytes, answer.key, 4);
  }
  FERMATA_ASSERT(bytes.size() == kHeaderBytes + answers_.size() * kAnswerBytes);
  return bytes;
}

const Answer* FuzzInput::find(backend::RandomStream stream, std::uint32_t key) const noexcept {
  const Answer wanted{stream, key, 0};
  const auto found = std::lower_bound(answers_.begin(), answers_.end(), wanted, in_order);
  return found != answers_.end() && found->same_draw(wanted) ? &*found : nullptr;
}

void FuzzInput::set(const Answer& answer) {
  FERMATA_ASSERT(answer.value < Answer::kValueBound);
  const auto place = std::lower_bound(answers_.begin(), answers_.end(), answer, in_order);
  if (place != answers_.end() && place->same_draw(answer)) {
    *place = answer;
  } else {
    answers_.insert(place, answer);
  }
}

void FuzzInput::erase(std::size_t index) {
  FERMATA_ASSERT(index < answers_.size());
  answers_.erase(std::next(answers_.begin(), static_cast<std::ptrdiff_t>(index)));
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  FERMATA_ASSERT(text.size() == 2 * bytes.size());
  return text;
}

}  // namespace fermata::sim
