// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scripts of system calls that run alike on Linux and in a simulated world.
//
// Slots   A script names descriptors by slots, "$3". Each slot is filled by one step; before that,
//         and when that step fails, it is -1.
// Pages   A pipe of Linux holds 16 pages, which small writes fill in ways of their own; that of the
//         world holds as many bytes. So some scripts transfer whole pages, and fill pipes; all
//         others transfer little, and fill nothing.
// Calm    No call blocks: what is opened is non-blocking, and polls do not wait.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace fermata::test {

/// What a slot is thought to be when a script is drawn. A set of bits.
using Kinds = std::uint32_t;
namespace kind {
inline constexpr Kinds kNone = 0;
inline constexpr Kinds kStream = 1 << 0;  // A connected stream socket.
inline constexpr Kinds kPipeIn = 1 << 1;
inline constexpr Kinds kPipeOut = 1 << 2;
inline constexpr Kinds kEvent = 1 << 3;
inline constexpr Kinds kTimer = 1 << 4;
inline constexpr Kinds kEpoll = 1 << 5;
inline constexpr Kinds kUnix = 1 << 6;  // A Unix socket that is not connected yet.
inline constexpr Kinds kTcp = 1 << 7;
inline constexpr Kinds kUdp = 1 << 8;
inline constexpr Kinds kListener = 1 << 9;
inline constexpr Kinds kUnbound = 1 << 10;  // A TCP socket without a name.
inline constexpr Kinds kLetter = 1 << 11;   // A Unix socket of datagrams.
inline constexpr Kinds kSocket = kStream | kUnix | kTcp | kUdp | kListener | kUnbound | kLetter;
inline constexpr Kinds kReadable = kStream | kPipeIn | kEvent | kTimer | kUdp | kLetter;
inline constexpr Kinds kWritable = kStream | kPipeOut | kUdp | kLetter;
inline constexpr Kinds kAny = ~Kinds{0};
}  // namespace kind

inline constexpr std::size_t kSlots = 40;
inline constexpr int kNoSlot = -1;

struct Step;

/// The descriptors of a script that runs, and what its steps answered.
struct Run {
  Run() { descriptors.fill(-1); }

  [[nodiscard]] int operator[](int slot) const {
    return slot == kNoSlot ? -1 : descriptors[static_cast<std::size_t>(slot)];
  }
  void fill(int slot, int descriptor) { descriptors[static_cast<std::size_t>(slot)] = descriptor; }

  std::array<int, kSlots> descriptors{};
  std::size_t step = 0;  // The number of the present one.
};

/// What a step has called, and what came of it: "close($3)", "-1 EBADF".
struct Answer {
  std::string call;
  std::string result;
};

using Perform = Answer(Run&, const Step&);

/// A kind of step.
struct Operation {
  unsigned weight;  // How often it is drawn.
  Kinds first;      // What it is called on; kNone: nothing.
  Kinds second;
  std::array<Kinds, 2> makes;  // What it opens.
  Kinds becomes;               // What the first is from then on; kNone: the same.
  Perform* perform;
};

struct Step {
  const Operation* operation = nullptr;
  int first = kNoSlot;
  int second = kNoSlot;
  std::array<int, 2> made = {kNoSlot, kNoSlot};
  std::uint64_t value = 0;  // The rest of the arguments.
  bool in_pages = false;    // What it transfers are whole pages.
  bool ipv6 = false;        // Its addresses are those of IPv6.

  /// One of `choices` values, by the digit `digit` of the value.
  [[nodiscard]] std::uint64_t choice(unsigned digit, std::uint64_t choices) const {
    return ((value >> (8 * digit)) & 0xff) % choices;
  }
  template <class Value>
  [[nodiscard]] Value one_of(unsigned digit, std::initializer_list<Value> values) const {
    return values.begin()[choice(digit, values.size())];
  }
};

using Script = std::vector<Step>;

/// All operations that there are; each stands where it is forever.
[[nodiscard]] std::span<const Operation> operations();
/// What scripts begin with, so that there is something to work on: operations in this order.
[[nodiscard]] std::span<const std::vector<Perform*>> openings();
/// Which of them opens a pipe.
inline constexpr std::size_t kPipeOpening = 0;
/// The script of this number, always the same.
[[nodiscard]] Script draw_script(std::uint64_t number);
/// Performs all steps; `settle` is called after each.
[[nodiscard]] std::vector<Answer> perform(const Script& script,
                                          const std::function<void()>& settle);

}  // namespace fermata::test
