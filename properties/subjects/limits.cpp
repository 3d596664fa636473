// SPDX-License-Identifier: Apache-2.0

// Code under limits, inside of one another and of protected code, that waits in different ways and
// cleans up where it is interrupted.

#include <array>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "fermata/core/limit.hpp"
#include "fermata/runtime.hpp"
#include "fermata/sim/base/key.hpp"
#include "properties/models/limit_model.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace limits {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::size_t kDeepest = 3;

/// How a step is filled, drawn from what the script says of it.
class Plan {
 public:
  Plan(std::uint64_t first, std::uint64_t second) : state_(sim::key_of(first, second)) {}
  [[nodiscard]] unsigned below(unsigned bound) {
    state_ = sim::key_of(state_, bound);
    return static_cast<unsigned>(state_ % bound);
  }

 private:
  std::uint64_t state_;
};

std::uint64_t ticks() { return current_runtime().metrics().ticks; }

bool is_by_a_limit(const std::exception_ptr& error) {
  if (!error) return false;
  try {
    std::rethrow_exception(error);
  } catch (const detail::LimitReached&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// Whether a timer waits for exactly that long.
bool has_timer_of(Duration span) {
  const Event* each = current_runtime().kernel().live_events.first();
  for (; each != nullptr; each = each->next_live()) {
    const auto* const timer = dynamic_cast<const Timer*>(each);
    if (timer != nullptr && timer->timeout() == span) return true;
  }
  return false;
}

/// An actor whose code is limited.
struct Coder {
  models::LimitModel model;
  std::vector<Event*> tokens;  // One for each limit; null for those without.
  bool waits = false;
  bool had_destructor = false;

  [[nodiscard]] auto has_fired() const {
    return [this](std::size_t i) { return properties::has_fired(tokens[i]); };
  }
};

class Limits final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {14, "work under limits", does<&Limits::work>},
        {3, "ring", does<&Limits::ring>, true},
    });
  }

  explicit Limits(Stage& on) : Subject(on), coders_(on.actor_count()) { renew(); }

  void at_rest() override {
    for (std::size_t i = 0; i < coders_.size(); ++i) {
      Coder& coder = coders_[i];
      if (!coder.waits || !stage.parked(i)) continue;
      const auto complaint = coder.model.at_rest(now(), coder.has_fired());
      if (!complaint.empty()) stage.complain(complaint + stage.where(i));
    }
  }

  void let_go() override {
    is_ending = true;
    ring();
  }

  void at_end() override {
    for (const auto& bell : bells_) {
      if (bell->callbacks().size() > 0)
        stage.complain("REF: a callback is left at " + bell->info());
    }
  }

 private:
  /// What the code of a limit has come to.
  struct Ended {
    bool began = false;
    std::exception_ptr error;
  };

  void renew() {
    bells_.push_back(Ref<PlainEvent>::adopt(*new PlainEvent(current_runtime(), true)));
  }
  void ring() {
    const auto rung = bells_.back();
    renew();
    rung->complete();
  }

  void work(const Cue& cue) {
    Plan plan(cue.number + 16u * stage.script().shape[cue.actor % 4], cue.actor);
    coders_[cue.actor].had_destructor = false;
    call(
        cue, Due::Unknown,
        [&] {
          try {
            limited(cue, plan, cue.patience);
          } catch (const Timeout&) {
            take_what_destructors_left(cue);
            throw;
          } catch (const OperationCancelled&) {
            take_what_destructors_left(cue);
            throw;
          }
          take_what_destructors_left(cue);
        },
        [](const Ending&) {});
  }
  /// A cancellation that has come in a destructor is told here.
  void take_what_destructors_left(const Cue& cue) {
    if (std::exchange(coders_[cue.actor].had_destructor, false)) suspend();
  }

  // --- limits ---

  /// Code of the plan under `options`, and whether its end is that of the code.
  void limited(const Cue& cue, Plan& plan, WaitOptions options) {
    Coder& coder = coders_[cue.actor];
    if (detail::waits_plainly(options)) return code(cue, plan);
    if (options.timeout > Duration::zero()) *options.timeout += nanoseconds(++limits_);
    const Instant begin = now();
    Ended ended;
    std::exception_ptr error;
    try {
      within(options, [&] {
        ended.began = true;
        models::LimitModel::End end;
        if (options.timeout) end = {begin + *options.timeout, now() + *options.timeout};
        coder.model.entered(end);
        coder.tokens.push_back(options.token);
        try {
          code(cue, plan);
        } catch (...) {
          ended.error = std::current_exception();
          throw;
        }
      });
    } catch (...) {
      error = std::current_exception();
    }
    if (ended.began) coder.tokens.pop_back();
    if (is_forced_unwind(error)) {
      if (ended.began) coder.model.left();
    } else {
      judge(cue, options, ended, error);
    }
    if (error) std::rethrow_exception(error);
  }

  void judge(const Cue& cue, const WaitOptions& options, const Ended& ended,
             const std::exception_ptr& error) {
    complain(cue, judge_end(coders_[cue.actor].model, options, ended, error));
    if (options.timeout > Duration::zero() && has_timer_of(*options.timeout)) {
      complain(cue, "TMR-01 (REF): the code has ended, and the timer of its limit is left");
    }
  }
  [[nodiscard]] static models::Complaint judge_end(models::LimitModel& model,
                                                   const WaitOptions& options, const Ended& ended,
                                                   const std::exception_ptr& error) {
    if (!ended.began) {
      const bool refused = error != nullptr && has_fired(options.token);
      return refused ? "" : "CORE-CN-07 (CANC): the code of a limit does not begin";
    }
    if (ended.error == error) {
      model.left();
      return {};
    }
    if (!is_by_a_limit(ended.error)) {
      model.left();
      return "CORE-CN-07 (ERR): a limit changes what its code has come to";
    }
    return model.left_by(ended.error);
  }

  /// Inside of another limit.
  void limited_inside(const Cue& cue, Plan& plan) {
    const milliseconds soon(1 + plan.below(16));
    Ref<backend::TimeoutEvent> deadline;
    WaitOptions options;
    switch (plan.below(4)) {
      case 0:
        options.timeout = soon;
        break;
      case 1:
        options.timeout = hours(1);
        break;
      case 2:
        options = {.timeout = hours(1), .token = bells_.back().get()};
        break;
      default:
        deadline = make_timeout(soon);
        options.token = deadline.get();
    }
    try {
      limited(cue, plan, options);
    } catch (const Timeout&) {
    } catch (const OperationCancelled&) {
    }
    if (deadline && (deadline->loop_ref_count() > 0 || deadline->callbacks().size() > 0)) {
      complain(cue, "REF: the code has ended, and its limit is left at " + deadline->info());
    }
  }

  // --- code ---

  void code(const Cue& cue, Plan& plan) {
    try {
      for (unsigned left = 1 + plan.below(3); left > 0; --left) do_something(cue, plan);
    } catch (const Cancellation&) {
      // Only where no code is left that nobody would interrupt any more.
      const bool swallows = coders_[cue.actor].model.depth() == 1 &&
                            is_by_a_limit(std::current_exception()) && plan.below(2) == 0;
      for (unsigned left = plan.below(3); left > 0; --left) nap(cue, plan.below(8));
      if (!swallows) throw;
    }
  }

  void do_something(const Cue& cue, Plan& plan) {
    const bool deep = coders_[cue.actor].model.depth() >= kDeepest;
    switch (plan.below(deep ? 7 : 10)) {
      case 0:
        return wait_for(cue, Duration::zero(), [] { suspend(); });
      case 1:
      case 2:
        return nap(cue, 1 + plan.below(16));
      case 3:
        return wait_for_nothing(cue, milliseconds(1 + plan.below(16)));
      case 4:  // Not where only limits inside would end it, which may be an hour.
        if (coders_[cue.actor].model.is_sheltered()) return nap(cue, 1 + plan.below(16));
        return wait_for(cue, Duration::zero(), [this] {
          const auto bell = bells_.back();
          wait(*bell);
        });
      case 5:
        return protected_code(cue, plan);
      case 6:
        return code_of_a_destructor(cue, plan);
      default:
        return limited_inside(cue, plan);
    }
  }

  void nap(const Cue& cue, unsigned ms) {
    const milliseconds span(ms);
    wait_for(cue, span, [span] { delay(span); });
  }
  void wait_for_nothing(const Cue& cue, Duration span) {
    wait_for(cue, span, [this, span] {
      const auto never = Ref<PlainEvent>::adopt(*new PlainEvent(stage.actor(0).runtime(), true));
      try {
        wait(*never, {.timeout = span});
      } catch (const Timeout&) {
      }
    });
  }

  /// A wait that cannot end by itself before `span` has passed.
  template <class Wait>
  void wait_for(const Cue& cue, Duration span, Wait wait) {
    if (is_ending) return;
    Coder& coder = coders_[cue.actor];
    const Instant begin = now();
    const std::uint64_t began_at = ticks();
    coder.model.wait_begins(coder.has_fired());
    coder.waits = true;
    try {
      wait();
    } catch (...) {
      coder.waits = false;
      const auto error = std::current_exception();
      if (is_by_a_limit(error)) {
        complain(cue, coder.model.told(error, now(), ticks() != began_at, coder.has_fired()));
      } else if (is_cancellation(error)) {
        coder.model.cancelled();
      }
      throw;
    }
    coder.waits = false;
    // What is woken by others may be first, however late it is.
    complain(cue, coder.model.wait_returned(span > Duration::zero() ? begin + span : Instant()));
  }

  /// Until the end of a block nothing outside of it interrupts its code.
  class Sheltered {
   public:
    explicit Sheltered(models::LimitModel& model) : model_(model) { model.sheltered(); }
    Sheltered(const Sheltered&) = delete;
    Sheltered& operator=(const Sheltered&) = delete;
    ~Sheltered() { model_.exposed(); }

   private:
    models::LimitModel& model_;
  };

  void some_code(const Cue& cue, Plan& plan) {
    const Sheltered sheltered(coders_[cue.actor].model);
    if (plan.below(2) == 0) limited_inside(cue, plan);
    if (plan.below(2) == 0) nap(cue, 1 + plan.below(16));
  }

  // The cancellation that it has put off comes at its end.
  void protected_code(const Cue& cue, Plan& plan) {
    try {
      protect([&] { some_code(cue, plan); });
    } catch (const Cancellation&) {
      coders_[cue.actor].model.cancelled();
      throw;
    }
  }

  void code_of_a_destructor(const Cue& cue, Plan& plan) {
    struct Last {
      Limits& limits;
      const Cue& cue;
      Plan& plan;
      ~Last() {
        try {
          protect_in_destructor([this] { limits.some_code(cue, plan); });
        } catch (const ForcedUnwind&) {
        }
      }
    };
    coders_[cue.actor].had_destructor = true;
    const Last last{*this, cue, plan};
    nap(cue, 1 + plan.below(8));
  }

  void complain(const Cue& cue, const models::Complaint& complaint) const {
    if (!complaint.empty()) stage.complain(complaint + stage.where(cue.actor));
  }

  std::deque<Coder> coders_;  // By their actors.
  std::vector<Ref<PlainEvent>> bells_;
  std::uint64_t limits_ = 0;
};

}  // namespace limits
}  // namespace

constinit const Law kLimits = {
    "limits",
    "a limit ends the waits of its code, once and where nothing shelters it, and leaves nothing",
    {"CORE-CN-07"},
    &scripts_over<limits::Limits>};

}  // namespace fermata::properties
