// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fermata/base/time.hpp"
#include "fermata/core/chooser.hpp"
#include "fermata/sim/base/key.hpp"

namespace fermata::sim {

/// One answer that was not calm.
struct Decision {
  /// How many draws the run had made before, calm ones included.
  std::uint64_t index = 0;
  /// Which draw this is, unique within a run: key_of(topic, occurrence).
  std::uint64_t key = 0;
  /// A pick: how many candidates. Otherwise the draw's bound.
  std::uint64_t bound = 0;
  /// A pick: the path of the coroutine that was chosen. Otherwise the number drawn; never 0.
  std::uint64_t value = 0;
  /// A pick: the path of the coroutine that production would have run; otherwise the caller's key.
  std::uint64_t subject = 0;
  /// How many draws on the same topic the run had made before.
  std::uint32_t occurrence = 0;
  Instant at;
  backend::RandomStream stream = backend::RandomStream::Schedule;
  bool is_pick = false;

  friend bool operator==(const Decision&, const Decision&) = default;
};

/// A draw as it is asked for: a Decision without its answer.
struct Draw {
  std::uint64_t index = 0;
  std::uint64_t key = 0;
  std::uint64_t bound = 0;
  std::uint64_t subject = 0;
  std::uint32_t occurrence = 0;
  backend::RandomStream stream = backend::RandomStream::Schedule;
  bool is_pick = false;
};

/// What all picks have in common that find `head` first among their candidates.
[[nodiscard]] constexpr std::uint64_t topic_of_pick(std::uint64_t head) noexcept {
  constexpr std::uint64_t kPick = key_of("pick");
  return key_of(kPick, head);
}
/// What all draws from `stream` about `subject` have in common.
[[nodiscard]] constexpr std::uint64_t topic_of_draw(backend::RandomStream stream,
                                                    std::uint64_t subject) noexcept {
  return key_of(static_cast<std::uint64_t>(stream), subject);
}
[[nodiscard]] constexpr std::uint64_t topic_of(const Decision& decision) noexcept {
  return decision.is_pick ? topic_of_pick(decision.subject)
                          : topic_of_draw(decision.stream, decision.subject);
}

/// What reports call coroutines, by their paths, and the sentences of decisions, by their keys. A
/// sentence is empty where reports leave the decision out.
using KeyNames = std::map<std::uint64_t, std::string>;

/// Where a coroutine comes from, whatever it is called.
struct Origin {
  std::uint64_t parent = 0;  // The path of who spawned it; 0 for a machine's main.
  std::uint32_t number = 0;  // How many it had spawned before.

  friend bool operator==(const Origin&, const Origin&) = default;
};

/// By the coroutine's path.
using Origins = std::map<std::uint64_t, Origin>;

/// Where a run is.
class Whereabouts {
 public:
  [[nodiscard]] virtual Instant now() const = 0;
  /// The step that is under way, or the last one; 0 before the first.
  [[nodiscard]] virtual std::uint64_t step() const = 0;
  /// The coroutine whose code runs; empty when no coroutine's does.
  [[nodiscard]] virtual std::string coroutine() const = 0;

 protected:
  ~Whereabouts() = default;
};

/// Somebody who wants to know of each decision that is not calm, when it is taken.
class DecisionListener {
 public:
  /// A run begins.
  virtual void began() {}
  virtual void decided(const Decision& decision) = 0;
  /// What came of the decision with `key`, in a sentence; only while names are wanted. What is told
  /// later of the same decision is truer.
  virtual void told(std::uint64_t /*key*/, const std::string& /*sentence*/) {}

 protected:
  ~DecisionListener() = default;
};

/// "'writer' runs before 'reader'", "the 2nd message client -> server is delayed by 12 ms". Of a
/// decision without a sentence, as on a tape of an older build: "a draw of 'network' gives 3 of
/// 10".
[[nodiscard]] std::string describe(const Decision& decision, const KeyNames& names);

/// Whether reports leave the decision out of lists and counts: it allows a kind of fault in the
/// run, or says how often that strikes, and each fault that struck is a decision of its own.
[[nodiscard]] bool goes_without_saying(const Decision& decision, const KeyNames& names);

/// How many of `decisions` reports show: those that do not go without saying.
[[nodiscard]] std::size_t count_shown(std::span<const Decision> decisions, const KeyNames& names);

/// "'writer'", or "an unnamed coroutine".
[[nodiscard]] std::string coroutine_name(std::uint64_t path, const KeyNames& names);

/// "+12.000001 ms".
[[nodiscard]] std::string describe(Instant at);

/// "schedule", "time", "network", "disk", "offload", "fault", "allocation" or "workload".
[[nodiscard]] std::string_view to_string(backend::RandomStream stream) noexcept;
[[nodiscard]] std::optional<backend::RandomStream> stream_of(std::string_view name) noexcept;

}  // namespace fermata::sim
