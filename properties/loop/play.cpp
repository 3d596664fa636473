// SPDX-License-Identifier: Apache-2.0
#include "properties/loop/play.hpp"

#include <stdexcept>

#include "fermata/runtime/core/suspend.hpp"
#include "fermata/runtime/loop/loop.hpp"
#include "properties/models/loop_model.hpp"
#include "tests/support/splitmix.hpp"

namespace fermata::properties {

using models::LoopAct;
using models::LoopCall;
using models::LoopDeed;
using models::LoopScript;

LoopScript make_loop_script(std::uint64_t seed, const LoopScriptOptions& options) {
  test::SplitMix random(seed);
  const auto make_call = [&](std::size_t most) {
    LoopCall call(random.below(most + 1));
    for (LoopAct& act : call) {
      act.deed = static_cast<LoopDeed>(random.below(models::kLoopDeeds));
      const bool ends = act.deed == LoopDeed::Stop || act.deed == LoopDeed::Throw;
      if (ends && !random.once_in(4)) act.deed = LoopDeed::Defer;
      if (act.deed == LoopDeed::Notice && !options.virtual_time) act.deed = LoopDeed::Defer;
      act.subject = static_cast<unsigned>(random.below(64));
      act.span = options.virtual_time ? static_cast<unsigned>(random.below(6)) : 0;
    }
    return call;
  };
  LoopScript script;
  for (std::size_t left = 1 + random.below(4); left > 0; --left) {
    script.before_runs.push_back(make_call(6));
  }
  for (std::size_t left = random.below(40); left > 0; --left) script.calls.push_back(make_call(4));
  return script;
}

namespace {

using loop::CallbackId;
using loop::InvalidCallback;
using loop::Loop;
using loop::UncaughtError;

class Player {
 public:
  Player(const LoopScript& script, const LoopStage& stage) : script_(script), stage_(stage) {}

  std::vector<std::string> play() {
    begin_ = now();
    for (const LoopCall& before : script_.before_runs) {
      act(before, 0);
      const Duration guard_span = models::LoopModel::kGuardSpan * stage_.unit;
      guard_ = loop_.delay(guard_span, [this] {
        note("guard");
        loop_.stop();
      });
      ++registered_;
      loop_.unreference(guard_);
      try {
        const bool stopped = loop_.run().stopped;
        note(stopped ? "stopped" : "empty");
      } catch (const UncaughtError&) {
        note("error");
      }
      loop_.cancel(guard_);
    }
    return std::move(notes_);
  }

 private:
  void note(const std::string& what) {
    const auto units = (now() - begin_) / stage_.unit;
    notes_.push_back(stage_.times ? what + "@" + std::to_string(units) : what);
  }

  auto callback() {
    ++registered_;
    return [this](CallbackId id) {
      note("call " + std::to_string(id));
      call(id);
    };
  }

  void call(CallbackId self) {
    if (next_call_ < script_.calls.size()) return act(script_.calls[next_call_++], self);
    loop_.cancel(self);
  }

  void guarded(CallbackId id, void (Loop::*deed)(CallbackId)) {
    try {
      (loop_.*deed)(id);
    } catch (const InvalidCallback& error) {
      note("unknown " + std::to_string(error.id()));
    }
  }

  void act(const LoopCall& call_acts, CallbackId self) {
    bool throws = false;
    for (const LoopAct& act : call_acts) {
      const CallbackId id = registered_ == 0 ? 1 : 1 + act.subject % registered_;
      if (id == guard_ && act.deed >= LoopDeed::Cancel && act.deed <= LoopDeed::Notify) continue;
      const Duration span = act.span * stage_.unit;
      switch (act.deed) {
        case LoopDeed::Queue:
          loop_.queue([this, task = ++tasks_] {
            note("task " + std::to_string(task));
            call(kMicrotask);
          });
          break;
        case LoopDeed::Defer:
          loop_.defer(callback());
          break;
        case LoopDeed::Delay:
          loop_.delay(span, callback());
          break;
        case LoopDeed::Repeat:
          loop_.repeat(span, callback());
          break;
        case LoopDeed::Notice:
          loop_.on_notice(callback());
          break;
        case LoopDeed::Cancel:
          loop_.cancel(id);
          break;
        case LoopDeed::Disable:
          loop_.disable(id);
          break;
        case LoopDeed::Enable:
          guarded(id, &Loop::enable);
          break;
        case LoopDeed::Reference:
          guarded(id, &Loop::reference);
          break;
        case LoopDeed::Unreference:
          loop_.unreference(id);
          break;
        case LoopDeed::Notify:
          loop_.notice(id);
          break;
        case LoopDeed::Stop:
          loop_.stop();
          break;
        case LoopDeed::Throw:
          throws = self != 0;
          break;
        case LoopDeed::Sleep:
          if (self == 0) delay(span);
          break;
      }
    }
    if (throws) throw std::runtime_error("as the script says");
  }

  static constexpr CallbackId kMicrotask = ~0ULL;

  const LoopScript& script_;
  const LoopStage& stage_;
  Loop loop_;
  Instant begin_;
  std::uint64_t registered_ = 0;
  std::uint64_t tasks_ = 0;
  CallbackId guard_ = 0;
  std::size_t next_call_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> play_on_loop(const LoopScript& script, const LoopStage& stage) {
  return Player(script, stage).play();
}

std::vector<std::string> without_times(std::vector<std::string> notes) {
  for (std::string& note : notes) note.erase(note.find('@'));
  return notes;
}

}  // namespace fermata::properties
