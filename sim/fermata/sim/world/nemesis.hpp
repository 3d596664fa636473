// SPDX-License-Identifier: Apache-2.0
#pragma once

// Misfortune for machines: crashes, partitions and pauses, several in a run, at moments of the
// course of each machine.
//
// Strikes  Each machine has a number of strikes that may come, half of them at moments that matter,
//          half at its waits. Each is a draw of its own, whose key is the machine, the kind and a
//          number: its place on the course of the machine, or 0 for none. So a strike can be left
//          out of a replay without the others. How it goes is drawn when it comes.
// Targets  Some runs have strikes at their marks instead, see nemesis_targets.hpp.
// Courses  The length of the longest course of each of the two kinds is told to the strategy at the
//          end, which draws the places of later runs from it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/machine/occasion.hpp"
#include "fermata/sim/world/nemesis_options.hpp"
#include "fermata/sim/world/nemesis_targets.hpp"
#include "fermata/sim/world/node_state.hpp"

namespace fermata::sim::detail {

class WorldState;

class Nemesis final {
 public:
  /// Throws UsageError when `options` cannot be. `world` must outlive it.
  Nemesis(WorldState& world, const NemesisOptions& options);
  Nemesis(const Nemesis&) = delete;
  Nemesis& operator=(const Nemesis&) = delete;
  ~Nemesis();

  /// No further strike comes. What has struck ends as it would have, links apart.
  void ends();

 private:
  struct Strike {
    Fault kind = Fault::Crash;
    std::uint64_t key = 0;
    std::uint64_t place = 0;  // On the course, from 1.
    std::uint64_t told = 0;   // As Decisions::last_told() names the draw of its place.
    std::optional<NemesisTargets::Way> way = {};  // Without it the way is drawn.
  };

  /// How far a machine has come, and what strikes it on the way.
  struct Course {
    std::uint64_t come = 0;
    std::vector<Strike> strikes;  // By their places.
    std::size_t next = 0;         // The strike that comes next.
  };

  class Victim final : public OccasionListener {
   public:
    Victim(Nemesis& nemesis, NodeState& node) : nemesis_(nemesis), node_(node) {}
    void came(Occasion occasion, std::string_view subject) override;

   private:
    friend class Nemesis;
    /// How much the occasion counts among those that matter.
    [[nodiscard]] unsigned weight(Occasion occasion, std::string_view subject);
    [[nodiscard]] const std::string& name() const noexcept { return node_.name(); }

    Nemesis& nemesis_;
    NodeState& node_;
    Course moments_;
    Course waits_;
    std::map<std::string, unsigned, std::less<>> marks_;  // How often each was come to.
    bool syncs_ = false;                                  // It has synced something.
    bool has_news_ = false;                               // It has sent nothing since.
    std::uint64_t crashed_life_ = 0;  // The last one that the nemesis has ended.
    Instant paused_until_;            // By the nemesis.
  };

  /// A partition that is drawn.
  struct Cut;

  /// A partition that has begun.
  struct Going {
    std::vector<Victim*> inside;  // The first is whom it struck.
    std::vector<LinkState*> closed;
    Instant until;
  };

  void choose(const std::vector<std::string>& machines);
  void plan(Fault kind, double strikes);
  void plan(Victim& victim, Course& course, std::uint64_t subject, const Strike& strike, Odds odds);
  /// Moves `victim` on along one of its courses, and strikes what is due there.
  void go_on(Victim& victim, Course& course, unsigned by, Occasion occasion,
             std::string_view subject);
  /// `victim` comes to a mark, which may be a target.
  void come_to(Victim& victim, std::string_view mark);
  /// Lets `strike` come where `victim` is, at a moment or a wait, which is told with `subject`.
  void strike_soon(Victim& victim, const Strike& strike, Occasion occasion,
                   std::string_view subject);
  void strike(Victim& victim, const Strike& strike, const std::string& when);
  void crash(Victim& victim, const Strike& strike, const std::string& when);
  void cut_off(Victim& victim, const Strike& strike, const std::string& when);
  void pause(Victim& victim, const Strike& strike, const std::string& when);
  void apply(const Cut& cut);
  /// Ends what strikes have done to `victim`.
  void recover(Victim& victim);
  [[nodiscard]] Cut cut_of(Victim& victim, const Strike& strike);
  /// How `strike` goes: a number below `bound`.
  template <Teller Tell>
  [[nodiscard]] std::uint64_t way_of(const Strike& strike, std::uint64_t bound, const Tell& teller);
  /// Brings up a machine that it has crashed.
  void bring_up(Victim& victim);
  [[nodiscard]] bool is_any_up() const noexcept;
  /// How long the run has lasted since its beginning, times apart in which all machines were down:
  /// spans that are parts of it would otherwise grow without end.
  [[nodiscard]] Duration age() const;
  /// How long what `strike` does lasts: from a small part of the run's age to twice that.
  [[nodiscard]] Duration span_of(const Strike& strike, std::uint64_t drawn) const;
  [[nodiscard]] bool is_available(const Victim& victim) const noexcept;
  /// Whether the quorum is left without these.
  [[nodiscard]] bool can_spare(const std::vector<Victim*>& victims) const;
  void end_all();

  WorldState& world_;
  std::size_t quorum_;
  std::deque<Victim> victims_;
  std::vector<Going> partitions_;
  NemesisTargets targets_;
  Victim* struck_ = nullptr;  // By the last strike at a target, which the next one ends.
  Instant begun_;
  Duration idle_{};                  // All machines were down.
  std::optional<Instant> all_down_;  // Since then, by the nemesis.
  bool ended_ = false;
};

}  // namespace fermata::sim::detail
