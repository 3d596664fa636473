// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one source of every decision of a run. It gives each draw its key, asks a strategy, or a tape
// that is replayed (AnswerSource), and keeps what was not calm (DecisionLog) and, when somebody
// wants to read them, names (DecisionNames). The runtimes of all nodes of a world share one.
//
// Keys    A caller names its draw by what it is about: key_of(path of the coroutine, "tcp.read"),
//         key_of(link, "loss"). How often that key was drawn before is added here.
// Words   With each draw comes a teller. It is called only while names are wanted, and only when
// the
//         answer is not calm; then it says in a sentence what the answer does. When more is known
//         later, tell_later() takes a better sentence.
// Memory  A run allocates nothing once an earlier one was as long.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "fermata/core/chooser.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/tape/answer_source.hpp"
#include "fermata/sim/tape/decision.hpp"
#include "fermata/sim/tape/decision_log.hpp"
#include "fermata/sim/tape/decision_names.hpp"
#include "fermata/sim/tape/occurrences.hpp"
#include "fermata/sim/tape/replay.hpp"
#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

/// Whether the faults that a program names strike.
class FaultPoints {
 public:
  virtual bool strikes(std::string_view name) = 0;

 protected:
  ~FaultPoints() = default;
};

class Decisions final : public backend::Chooser {
 public:
  /// The strategy must outlive this.
  explicit Decisions(Strategy& strategy) noexcept : source_(strategy) {}
  Decisions(const Decisions&) = delete;
  Decisions& operator=(const Decisions&) = delete;

  /// Forgets the last run and begins one whose answers come from the strategy.
  void begin(std::uint64_t seed);

  /// Forgets the last run and begins one whose answers come from `replay`, which must outlive it.
  void begin_replay(Replay& replay);

  /// Forgets the last run and begins one whose first `draws` answers come from `replay`, all others
  /// from the strategy, from `seed`.
  void begin_replay(Replay& replay, std::uint64_t draws, std::uint64_t seed);

  /// The run is over: the strategy learns from it, whether no earlier one was like it, and whether
  /// it failed; a strict replay looks for what never came.
  void end(bool is_new = false, bool failed = false);

  // --- draws ---

  std::size_t pick(const fermata::detail::ReadyQueue& ready) override {
    return pick(Candidates(ready));
  }
  /// REQUIRES: at least two.
  std::size_t pick(const Candidates& candidates);

  std::uint64_t draw(const backend::ProgramDraw& draw) override;

  /// A number below `bound`, or any when that is 0; 0 is calm.
  template <Teller Tell>
  std::uint64_t draw(backend::RandomStream stream, std::uint64_t key, std::uint64_t bound,
                     const Tell& teller) {
    return told(answer(stream, key, bound), teller);
  }

  /// Calm except with `odds`: then uniform in [1, bound), which is not empty.
  template <Teller Tell>
  std::uint64_t draw_rarely(backend::RandomStream stream, std::uint64_t key, std::uint64_t bound,
                            Odds odds, const Tell& teller) {
    return told(answer_rarely(stream, key, bound, odds), teller);
  }

  /// Draws a place like Strategy::draw_place, below kPlaces.
  template <Teller Tell>
  std::uint64_t draw_place(backend::RandomStream stream, std::uint64_t key, std::uint64_t subject,
                           Odds odds, const Tell& teller) {
    return told(answer_place(stream, key, subject, odds), teller);
  }
  static constexpr std::uint64_t kPlaces = std::uint64_t{1} << 32;

  /// The key under which more can be told of the last draw; 0 when nobody wants to read it, or the
  /// answer was calm.
  [[nodiscard]] std::uint64_t last_told() const noexcept { return last_told_; }

  /// More is known by now of the decision with the key `told`, which last_told() has returned: what
  /// `make` returns is its sentence. Nothing when `told` is 0.
  template <class Make>
  void tell_later(std::uint64_t told, const Make& make) {
    if (told != 0) [[unlikely]] {
      set_sentence(told, make());
    }
  }

  /// What `make` returned for the last draw; empty when nobody wants to read it.
  [[nodiscard]] std::string last_sentence() const;

  std::uint64_t spawn_path(std::uint64_t parent, std::string_view name) override;

  bool fault_point(std::string_view name) override {
    return fault_points_ != nullptr && fault_points_->strikes(name);
  }

  // --- what the world tells ---

  /// This is how far its subject came in this run; the first one of each subject counts.
  void came(const Course& course) { source_.came(course); }

  /// Who answers fault_point(); null: no. Must outlive this, or be taken away.
  void set_fault_points(FaultPoints* points) noexcept { fault_points_ = points; }

  /// Who knows the time of a draw; null: all are at zero. Must outlive this.
  void set_whereabouts(const Whereabouts* whereabouts) noexcept { whereabouts_ = whereabouts; }

  // --- the parts ---

  /// The strategy, when it is to be told of the steps of this run; null: none is.
  [[nodiscard]] Strategy* told_of_steps() const noexcept { return source_.told_of_steps(); }

  /// The log of the decisions of the run.
  [[nodiscard]] DecisionLog& log() noexcept { return log_; }
  [[nodiscard]] const DecisionLog& log() const noexcept { return log_; }

  /// What its draws are called.
  [[nodiscard]] DecisionNames& names() noexcept { return names_; }
  [[nodiscard]] const DecisionNames& names() const noexcept { return names_; }

 private:
  void forget();
  [[nodiscard]] std::uint64_t answer(backend::RandomStream stream, std::uint64_t key,
                                     std::uint64_t bound);
  [[nodiscard]] std::uint64_t answer_rarely(backend::RandomStream stream, std::uint64_t key,
                                            std::uint64_t bound, Odds odds);
  [[nodiscard]] std::uint64_t answer_place(backend::RandomStream stream, std::uint64_t key,
                                           std::uint64_t subject, Odds odds);
  template <Teller Tell>
  std::uint64_t told(std::uint64_t value, const Tell& teller) {
    if (names_.wanted()) [[unlikely]] {
      tell(value, teller);
    }
    return value;
  }
  /// The last draw was answered by `value`.
  void tell(std::uint64_t value, const std::function<std::string(const Decision&)>& teller);
  void set_sentence(std::uint64_t key, std::string sentence);
  [[nodiscard]] Draw ask(backend::RandomStream stream, std::uint64_t subject, std::uint64_t bound);
  [[nodiscard]] Draw ask(const Candidates& candidates, std::uint64_t topic,
                         std::uint32_t occurrence) const noexcept;
  std::uint64_t answered(const Draw& draw, std::uint64_t value);
  void record(const Draw& draw, std::uint64_t value);

  AnswerSource source_;
  Occurrences occurrences_;
  DecisionLog log_;
  DecisionNames names_;
  std::uint64_t last_told_ = 0;
  const Whereabouts* whereabouts_ = nullptr;
  FaultPoints* fault_points_ = nullptr;
};

}  // namespace fermata::sim
