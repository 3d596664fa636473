// SPDX-License-Identifier: Apache-2.0

// The line that all primitives stand on: a counter of turns, each of which one waiter takes.

#include <algorithm>
#include <array>

#include "fermata/core/switching.hpp"
#include "fermata/sync/wait_queue.hpp"
#include "properties/models/line_model.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace wait_lines {

class WaitLines final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {8, "take a turn", does<&WaitLines::take>},
        {8, "give a turn", does<&WaitLines::give>, true},
    });
  }

  explicit WaitLines(Stage& on)
      : Subject(on), event_(Ref<PlainEvent>::adopt(*new PlainEvent(current_runtime(), false))) {}

  void at_rest() override { check_counts(); }

  void let_go() override {
    for (std::size_t i = 0; i < stage.actor_count() * 12; ++i) give();
  }

  void at_end() override {
    check_counts();
    stage.complain(model_.conserved(spare_));
  }

 private:
  [[nodiscard]] auto sleeping() const {
    return [this](std::size_t other) { return stage.parked(other); };
  }

  void take(const Cue& cue) {
    if (spare_ > 0) {
      --spare_;
      return model_.served_at_once();
    }
    model_.arrived(cue.actor);
    detail::Waiter me(line_);
    call(
        cue, Due::Later, [&] { me.park(*event_, cue.patience, SourcePlace::current()); },
        [&](const Ending& end) {
          const bool granted = me.leave();
          if (end.returned()) {
            stage.complain(model_.served(cue.actor, sleeping()));
          } else {
            model_.left(cue.actor);
            if (granted) grant();
          }
          check_counts();
        });
  }

  void give() {
    model_.given();
    grant();
  }
  void grant() {
    if (!line_.grant()) ++spare_;
  }

  // Whoever waits has reason to, and the line knows who it has.
  void check_counts() {
    const auto& line = model_.line();
    if (spare_ > 0 && std::any_of(line.begin(), line.end(), sleeping())) {
      stage.complain("CORE-GL-08 (WAKE): a waiter sleeps beside a spare turn");
    }
    stage.complain(model_.recount(line_.waiting() + line_.granted()));
  }

  Ref<PlainEvent> event_;
  detail::WaitQueue line_;
  std::size_t spare_ = 0;
  models::LineModel model_;
};

}  // namespace wait_lines
}  // namespace

constinit const Law kWaitLines = {
    "wait_lines",
    "turns are taken in the order of arrival, and none is lost with a waiter that leaves",
    {"CORE-GL-07", "CORE-GL-08", "CORE-WK-13"},
    &scripts_over<wait_lines::WaitLines>};

}  // namespace fermata::properties
