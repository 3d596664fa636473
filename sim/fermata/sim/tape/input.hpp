// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes of a fuzzer as the answers to the draws of a run.
//
// Layout       8 bytes of seed; for each stream, in the order of the enumeration, 2 bytes that name
//              its noise and 1 that says how dense it is; then answers of 8 bytes each: the stream,
//              3 bytes of value, 4 of key. All little-endian.
// Total        Any bytes are an input: what is missing is zero, a rest of less than 8 bytes counts
//              for nothing, and so does an answer whose stream does not exist. Of two answers to
//              one draw the first counts. No bytes at all are the calm run.
// Independent  A draw is found by its key, never by its place. What one stream is told, or one
//              draw, shifts nothing else: an input stays what it was when a draw comes in before
//              others.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/core/chooser.hpp"
#include "fermata/sim/tape/random.hpp"

namespace fermata::sim {

/// How draws of a stream without an Answer are answered.
struct Noise {
  static constexpr std::uint8_t kEverywhere = 255;

  /// Which one of many.
  std::uint16_t name = 0;
  /// How many of 255 draws are not simply calm.
  std::uint8_t density = 0;

  friend bool operator==(const Noise&, const Noise&) = default;
};

/// To one draw.
struct Answer {
  static constexpr std::uint32_t kValueBound = std::uint32_t{1} << 24;

  backend::RandomStream stream = backend::RandomStream::Schedule;
  /// The upper half of the draw's key.
  std::uint32_t key = 0;
  /// Below kValueBound; 0 is the calm answer.
  std::uint32_t value = 0;

  [[nodiscard]] bool same_draw(const Answer& other) const noexcept {
    return stream == other.stream && key == other.key;
  }
  /// In the order of streams, then of keys.
  [[nodiscard]] bool before(const Answer& other) const noexcept {
    return stream != other.stream ? stream < other.stream : key < other.key;
  }
  friend bool operator==(const Answer&, const Answer&) = default;
};

class FuzzInput {
 public:
  static constexpr std::size_t kHeaderBytes = 8 + 3 * kStreams;
  static constexpr std::size_t kAnswerBytes = 8;

  FuzzInput() = default;
  [[nodiscard]] static FuzzInput decode(std::span<const std::uint8_t> bytes);

  /// decode() makes the same from it.
  [[nodiscard]] std::vector<std::uint8_t> encode() const;

  /// How many answers there is room for in so many bytes.
  [[nodiscard]] static constexpr std::size_t answers_in(std::size_t bytes) noexcept {
    return bytes < kHeaderBytes ? 0 : (bytes - kHeaderBytes) / kAnswerBytes;
  }

  /// The seed of the run; arguments that RapidCheck generates follow from it.
  std::uint64_t seed = 0;
  [[nodiscard]] Noise& noise(backend::RandomStream stream) noexcept {
    FERMATA_ASSERT(static_cast<std::size_t>(stream) < kStreams);
    return noise_[static_cast<std::size_t>(stream)];
  }
  [[nodiscard]] const Noise& noise(backend::RandomStream stream) const noexcept {
    FERMATA_ASSERT(static_cast<std::size_t>(stream) < kStreams);
    return noise_[static_cast<std::size_t>(stream)];
  }

  /// In their order, at most one to each draw.
  [[nodiscard]] const std::vector<Answer>& answers() const noexcept { return answers_; }
  /// Null when it is left to the noise.
  [[nodiscard]] const Answer* find(backend::RandomStream stream, std::uint32_t key) const noexcept;
  /// Adds an answer, or replaces the one to that draw.
  void set(const Answer& answer);
  void erase(std::size_t index);
  void clear() noexcept { answers_.clear(); }

  friend bool operator==(const FuzzInput&, const FuzzInput&) = default;

 private:
  std::array<Noise, kStreams> noise_{};
  std::vector<Answer> answers_;
};

/// Two digits for each byte.
[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);

}  // namespace fermata::sim
