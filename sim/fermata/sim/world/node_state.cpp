// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/node_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <span>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/exception_ptr_cast.hpp"
#include "fermata/core/log.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/reactor/signal_name.hpp"
#include "fermata/reactor/thread_link.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/stack_text.hpp"
#include "fermata/sim/guard/guard.hpp"
#include "fermata/sim/guard/thrown_errors.hpp"
#include "fermata/sim/posix/thread_exit.hpp"
#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/world/reactor.hpp"
#include "fermata/sim/world/stack_sizes.hpp"
#include "fermata/sim/world/switching.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::uint32_t kFirstAddress = 0x0a000001;  // 10.0.0.1
constexpr Duration kShortestStart = std::chrono::microseconds(5);
constexpr std::uint64_t kStarts = 12;  // At once, or each twice the one before.
constexpr std::array<unsigned, 8> kTurnsOfOthers = {0, 0, 0, 0, 1, 1, 2, 16};
// Of a crash that is a fault. Where it strikes is a place on the machine's course, which is its
// waits: so it hits a program where that is busy, however long it takes.
constexpr Odds kFirstCrash = {7, 8};
constexpr Odds kLaterCrash = {1, 2};  // Of a machine that has come up again.
constexpr std::uint64_t kBusyKey = key_of("busy");
constexpr Duration kShortestBusy = std::chrono::microseconds(8);
constexpr std::uint64_t kBusyLengths = 10;  // Not at all, or each twice the one before: up to 4 ms.
constexpr std::uint64_t kClockKey = key_of("clock");
constexpr Duration kLeastSkew = std::chrono::milliseconds(1);
constexpr std::uint64_t kClockFaults = 2 * 18;  // Ahead or behind; the most is 131 s.
constexpr std::int32_t kLeastDrift = 4;         // Millionths.
constexpr int kDrifts = 8;                      // Each twice the one before.

/// How a clock is wrong.
struct ClockFault {
  explicit ClockFault(std::uint64_t drawn) {
    FERMATA_ASSERT(drawn < kClockFaults);
    const int doublings = static_cast<int>(drawn / 2);
    const int sign = drawn % 2 == 0 ? 1 : -1;
    skew = sign * kLeastSkew * (1 << doublings);
    drift = sign * kLeastDrift * (1 << doublings % kDrifts);
  }
  Duration skew{};
  std::int32_t drift = 0;
};

std::string text_of(const ClockFault& fault, std::string_view machine) {
  const bool is_ahead = fault.skew > Duration::zero();
  return fmt::format("the clock of '{}' is {} {} and {} parts in a million too {}", machine,
                     amount(is_ahead ? fault.skew : -fault.skew), is_ahead ? "ahead" : "behind",
                     std::abs(fault.drift), fault.drift > 0 ? "fast" : "slow");
}

/// Where an error was thrown that nobody has caught; empty when that was not noted.
std::string throw_text(const std::exception_ptr& error) {
  constexpr std::size_t kMostFrames = 5;
  const AllowNondeterminism allowed;  // A program is asked for the lines, and nothing in the run.
  const std::vector<std::string> frames = stack_text(thrown_in(error));
  std::string text;
  for (const std::string& frame : std::span(frames).first(std::min(frames.size(), kMostFrames))) {
    text += "  " + frame + '\n';
  }
  return text.empty() ? text : "uncaught; thrown in\n" + text;
}

Verdict verdict_of(const std::exception_ptr& error) {
  using fermata::detail::exception_ptr_cast;
  if (exception_ptr_cast<DeadlockError>(error) != nullptr) return Verdict::Deadlock;
  if (exception_ptr_cast<LivelockError>(error) != nullptr) return Verdict::Liveness;
  return Verdict::Safety;
}

}  // namespace

NodeState::NodeState(Stage& stage, std::string_view name, NodeState* machine)
    : Program(name, stage, stage.faults(), stage.decisions(), machine),
      audit_(stage, now_),
      context_(&stage.contexts().acquire(&NodeState::program_context)),
      stage_(stage) {
  context_->owner = this;
  make_runtime();
}

NodeState::~NodeState() { stage_.contexts().release(*context_); }

void NodeState::make_runtime() {
  auto reactor =
      std::make_unique<SimReactor>(*this, Surroundings{.network = stage_.network(),
                                                       .programs = stage_.program_table(),
                                                       .disk = disk(),
                                                       .shared_disks = stage_.shared_disks(),
                                                       .terminal = terminal()});
  reactor_ = reactor.get();
  RuntimeOptions options;
  options.name = name_;
  options.stacks = with_room_for_foreign_code(stage_.options().stacks);
  options.log = [this](std::string_view text) { report(text); };
  // Whoever takes what a run prints says who and when.
  options.log_sink = [](const LogLine& line) { std::clog << line.text << '\n'; };
  options.chooser = &stage_.decisions();
  options.observer = &audit_;
  options.handle_stop_signals = !is_thread();
  runtime_ = std::make_unique<Runtime>(std::move(reactor), std::move(options));
}

Instant NodeState::world_now() const noexcept { return stage_.now(); }

NodeState* NodeState::peer(std::uint32_t ip) noexcept {
  const bool is_self = ip == 0 || (ip >> 24) == 127 || ip == ip_;
  return is_self ? &machine() : stage_.find_node(ip);
}

NodeState* NodeState::peer(std::string_view name) const noexcept { return stage_.find_node(name); }

// --- time ---

void NodeState::wake() noexcept {
  woken_ = true;
  turn_changed();
}

void NodeState::turn_changed() noexcept {
  if (in_order()) stage_.turns().changed(*this, next_action());
}

// The world ends threads before whoever has begun them, and would not come to it if this program
// went first because it has failed the run itself.
void NodeState::leave_run() {
  FERMATA_ASSERT(stage_.over());
  yield_to_world(Phase::Ready);
  throw backend::AbandonRun{};
}

// At the same time the others can do something that is seen here; those that are behind must. A
// thread can do all there is to it while another one is between two lines.
void NodeState::let_threads_in() noexcept {
  if (stage_.over() || stage_.running_node() != this) return;
  const Instant others = earliest_beside();
  if (others > now_) return;
  unsigned turns = 1;
  if (others == now_) {
    const auto tell = [&](const Decision& decision) {
      const unsigned drawn = kTurnsOfOthers[decision.value];
      return drawn == 0 ? fmt::format("'{}' goes on before other threads", name_)
                        : fmt::format("other threads have {} before '{}' goes on",
                                      counted(drawn, "turn"), name_);
    };
    turns = kTurnsOfOthers[decisions().draw(backend::RandomStream::Offload, key_of(key_, "threads"),
                                            kTurnsOfOthers.size(), tell)];
  }
  for (; turns > 0 && !stage_.over() && earliest_beside() <= now_; --turns) {
    yield_to_world(Phase::Ready);
  }
}

Instant NodeState::earliest_beside() const noexcept {
  if (stage_.threads().empty()) return Instant::never();
  const NodeState& machine = this->machine();
  Instant earliest = &machine != this ? machine.next_action() : Instant::never();
  for (const NodeState* each : stage_.threads()) {
    if (each == this || &each->machine() != &machine) continue;
    earliest = std::min(earliest, each->next_action());
  }
  return earliest;
}

template <class F>
void NodeState::for_each_program(F visit) {
  visit(*this);
  for (NodeState* thread : stage_.threads()) {
    if (thread != this && &thread->machine() == this) visit(*thread);
  }
}

Instant NodeState::earliest_visible_time() const noexcept {
  const NodeState* const other = stage_.running_node();
  return std::max(now_, other != nullptr ? other->now_ : stage_.now());
}

// What is due meanwhile happens in the next turn of the reactor, not before who can run already.
// The others do first what they do in that time.
void NodeState::step_ended() {
  FERMATA_ASSERT(stage_.running_node() == this);
  record_files();
  if (is_struck()) [[unlikely]] {
    give_way();
  }
  if (!faults().is_absent(Fault::Busy)) meet_busy_fault();
}

void NodeState::meet_busy_fault() {
  FERMATA_ASSERT(stage_.running_node() == this);
  const auto tell = [&](const Decision& decision) {
    return fmt::format("a step of '{}' takes {}", name_,
                       amount(kShortestBusy * (1 << decision.value)));
  };
  const std::uint64_t length = faults().strength(Fault::Busy, backend::RandomStream::Time,
                                                 key_of(key_, kBusyKey), kBusyLengths, tell);
  if (length == 0) return;
  const Instant until = now_ + kShortestBusy * (1 << length);
  if (stage_.within_time_limit(until)) advance(until);
  give_way();
}

void NodeState::advance(Instant to) {
  if (to <= now_) return;
  now_ = to;
  turn_changed();
  stage_.time_is(to);
  if (runtime_->is_running()) {
    runtime_->kernel().trace(backend::Trace::TimeAdvanced, nullptr,
                             static_cast<std::uint64_t>(to.nanoseconds));
  }
}

Instant NodeState::next_action() const noexcept {
  if (is_paused()) return Instant::never();
  switch (phase_) {
    case Phase::Ready:
      return now_;
    case Phase::Waiting:
      return woken_ ? now_ : std::max(now_, std::min(wake_by_, agenda_.earliest()));
    case Phase::Ended:
      break;
  }
  return Instant::never();
}

// --- life ---

void NodeState::begin_run(std::function<void()>&& main, bool is_service, std::uint32_t number) {
  FERMATA_ASSERT(!is_thread());
  main_ = std::move(main);
  is_service_ = is_service;
  number_ = number;
  ip_ = kFirstAddress + number;
  last_ran_ = 0;
  life_ = 0;
  may_crash_ = false;
  may_pause_ = false;
  may_step_clock_ = false;
  may_refuse_threads_ = false;
  real_files_.clear();
  clock_.reset();
  disk_.format();
  tell_of_occasions(nullptr);
  struck_ = false;
  terminal_.reset();
  begin();
}

void NodeState::begin_thread(std::shared_ptr<fermata::detail::ThreadLink> link) {
  if (stage_.over()) return link->end();  // Nobody would unwind it.
  std::string name = name_ + "/" + link->name();
  const std::uint64_t before = machine().threads_started_[name]++;
  if (before > 0) name += fmt::format("#{}", before + 1);
  stage_.add_thread(*this, name, std::move(link));
}

void NodeState::begin_run(std::shared_ptr<fermata::detail::ThreadLink> link,
                          const NodeState& spawner, std::uint32_t number) {
  FERMATA_ASSERT(is_thread());
  FERMATA_ASSERT(&spawner.machine() == &machine());
  thread_ = std::move(link);
  FERMATA_ASSERT(thread_ != nullptr);
  is_service_ = spawner.is_service_;
  number_ = number;
  ip_ = spawner.ip_;
  last_ran_ = 0;
  begin();
  now_ = spawner.now_;
  const auto tell = [&](const Decision& decision) {
    return fmt::format("thread '{}' starts after {}", name_,
                       amount(kShortestStart * (1 << decision.value)));
  };
  const std::uint64_t start_key = key_of(key_, "start");
  if (const auto late =
          decisions().draw(backend::RandomStream::Offload, start_key, kStarts, tell)) {
    phase_ = Phase::Waiting;
    wake_by_ = now_ + kShortestStart * (1 << late);
  }
  turn_changed();
}

void NodeState::begin() {
  if (std::exchange(distrusted_, false)) make_runtime();
  run_log_ = stage_.instruments().run_log;
  now_ = stage_.now();
  phase_ = Phase::Ready;
  suspended_ = context_;
  if (!is_thread()) reactor_->life_begins();
  began_ = false;
  woken_ = false;
  shutdown_requested_ = false;
  down_ = false;
  threads_started_.clear();
  paused_ = false;
  ++life_;
  agenda_.clear();
  crash_in_ = 0;
  if (may_crash_) plan_crash();
  stage_.turns().add(*this, next_action(), last_ran_, number_);
  stage_.began(*this);
}

void NodeState::unwind() {
  FERMATA_ASSERT(stage_.running_node() == nullptr);
  if (!began_ && phase_ != Phase::Ended) {
    phase_ = Phase::Ended;
    stage_.turns().remove(*this);
    stage_.ended(*this);
    if (thread_ != nullptr) std::exchange(thread_, nullptr)->end();
  }
  while (phase_ != Phase::Ended) resume(now_);
}

void NodeState::abandon() {
  unwind();
  main_ = nullptr;
}

void NodeState::go_down() {
  down_ = true;
  disk().forget_maps();
  unwind();
  FERMATA_ASSERT(phase_ == Phase::Ended);
  FERMATA_ASSERT(!in_order());
  distrusted_ = true;
  agenda_.clear();
}

void NodeState::come_up() {
  FERMATA_ASSERT(down_);
  FERMATA_ASSERT(phase_ == Phase::Ended);
  begin();
  record_incident("restart", "comes up again");
}

void NodeState::program_context(fermata::detail::StackContext& self) noexcept {
  auto& node = *static_cast<NodeState*>(self.owner);
  while (true) {
    node.run_program();
    node.yield_to_world(Phase::Ended);
  }
}

void NodeState::run_program() {
  FERMATA_ASSERT(phase_ != Phase::Ended);
  if (life_ == 1 && !is_thread()) meet_clock_fault();
  const WorldOptions& options = stage_.options();
  const Instruments& instruments = stage_.instruments();
  audit_.begin_run(*runtime_, {.limits = options.limits(),
                               .full = options.full_audit,
                               .sampled = instruments.sampled_audit,
                               .record_steps = instruments.record_steps,
                               .run_log = instruments.run_log,
                               .log_waits = instruments.log_waits,
                               .probe = instruments.probe,
                               .wakes = instruments.wakes,
                               .steps = this});
  runtime_->scheduler().reset();
  run_main();
  if (!is_thread()) reactor_->program_ended();
  if (!down_) {
    main_ = nullptr;
    note_course(false);
  }
  audit_.end_run();
  distrusted_ = stage_.failure().has_value();
  if (!runtime_->kernel().live_events.empty()) {
    static_cast<void>(runtime_.release());  // What has leaked may still refer to it.
    make_runtime();
  }
  if (thread_ == nullptr) return;
  let_threads_in();
  std::exchange(thread_, nullptr)->end();
}

void NodeState::run_main() noexcept {
  try {
    if (thread_ != nullptr) {
      thread_->run(*runtime_);
    } else {
      runtime_->run([this, main = main_] { run_body(main); });
    }
  } catch (const backend::AbandonRun&) {
  } catch (...) {
    stage_.fail(failure_of(std::current_exception()));
  }
  stage_.drop_actions_of(*this);  // Those of its other coroutines, or of the thread.
}

void NodeState::run_body(const std::function<void()>& body) {
  struct End {
    NodeState& node;
    ~End() {
      node.reactor_->main_ends();
      node.stage_.drop_actions_of(node);
    }
  } const end{*this};
  try {
    body();
  } catch (const ThreadExit&) {  // The others go on.
  }
}

void NodeState::meet_clock_fault() {
  FERMATA_ASSERT(!is_thread());
  const auto tell = [&](const Decision& decision) {
    return text_of(ClockFault(decision.value), name_);
  };
  const std::uint64_t drawn = faults().strength(Fault::Clock, backend::RandomStream::Time,
                                                key_of(key_, kClockKey), kClockFaults, tell);
  if (drawn == 0) return;
  const ClockFault fault(drawn);
  record_incident("clock", "has a clock that is wrong and does not keep time");
  clock_.step_wall(fault.skew);
  clock_.set_drift(fault.drift, now_);
}

Failure NodeState::failure_of(const std::exception_ptr& error) const {
  Failure failure;
  failure.message = fermata::describe(error);
  failure.explanation = throw_text(error);
  const Audit::Moment& moment = audit_.decisive_moment();
  failure.coroutine = moment.coroutine;
  failure.at = moment.step != 0 ? moment.at : now_;
  failure.step = moment.step != 0 ? moment.step : stage_.begun;
  failure.verdict = verdict_of(error);
  return failure;
}

// A deadlock fails the run, and the failure explains it better.
void NodeState::report(std::string_view text) const {
  if (text.starts_with("Deadlock detected")) return;
  const CoroutineBase* current = runtime_->current();
  const std::int64_t microseconds = now_.nanoseconds / 1000;
  stage_.log_line(fmt::format("+{}.{:03} ms {}{}{}: {}", microseconds / 1000, microseconds % 1000,
                              name_, current != nullptr ? "/" : "",
                              current != nullptr ? current->label() : "", text));
}

// --- from outside ---

void NodeState::request_shutdown() noexcept {
  note_course(false);
  unpause();
  shutdown_requested_ = true;
  wake();
}

void NodeState::signal(int signum) {
  if (run_log() != nullptr && signum != SIGCHLD) {  // The end of a process is ordinary.
    record_incident("signal", fmt::format("gets signal {}", backend::signal_name(signum)));
  }
  reactor_->signals().raise(signum);
}

void NodeState::may_crash() {
  if (std::exchange(may_crash_, true)) return;
  if (phase_ != Phase::Ended) plan_crash();
}

void NodeState::plan_crash() {
  FERMATA_ASSERT(may_crash_);
  waits_ = 0;
  const auto tell = [&](const Decision& decision) {
    return fmt::format("'{}' would crash at its {} wait", name_, ordinal(decision.value));
  };
  crash_in_ = faults_.place(Fault::Crash, backend::RandomStream::Fault,
                            key_of(key_of(key_, "crash"), to_string(Fault::Crash)), key_,
                            life_ > 1 ? kLaterCrash : kFirstCrash, tell);
  crash_told_ = crash_in_ != 0 ? decisions_.last_told() : 0;
}

void NodeState::count_wait() {
  FERMATA_ASSERT(!is_thread());
  const bool comes = ++waits_ == crash_in_ && !stage_.over();
  if (comes && faults_.allows(Fault::Crash)) stage_.meet_crash(*this);
  came(Occasion::Wait, {});
}

void NodeState::note_course(bool cut) {
  const bool counts = may_crash_ && life_ == 1 && phase_ != Phase::Ended && !stage_.over();
  if (counts && faults_.allows(Fault::Crash)) decisions_.came({key_, waits_, cut});
}

void NodeState::pause() {
  record_incident("pause", "gets no processor time");
  stop();
}

void NodeState::stop() {
  paused_ = true;
  ++pauses_;
  for_each_program([&](NodeState& each) { each.turn_changed(); });
}

void NodeState::pause_for(Duration time) {
  FERMATA_ASSERT(time > Duration::zero());
  if (paused_) return;
  record_incident("pause", "gets no processor time", nullptr, stage_.now() + time);
  stop();
  stage_.later(time, [this, pause = pauses_] {
    if (pauses_ == pause) unpause();
  });
}

void NodeState::unpause() {
  if (!std::exchange(paused_, false)) return;
  record_incident("resume", "gets processor time again");
  for_each_program([&](NodeState& each) {
    each.advance(stage_.now());
    each.turn_changed();
  });
}

// Whoever waits has to find out anew for how long.
void NodeState::set_drift(std::int32_t ppm) {
  FERMATA_ASSERT(!is_thread());
  if (run_log() != nullptr) {
    record_incident("clock", fmt::format("has a clock that gains {} millionths", ppm));
  }
  clock().set_drift(ppm, std::max(now_, stage_.now()));
  for_each_program([](NodeState& each) { each.wake(); });
}

void NodeState::tell_of_occasions(OccasionListener* listener) noexcept {
  FERMATA_ASSERT(!is_thread());
  FERMATA_ASSERT(listener == nullptr || occasions_ == nullptr);  // There is one nemesis.
  occasions_ = listener;
  disk_.tell_of_occasions(listener);
}

void NodeState::wipe_disk() {
  FERMATA_ASSERT(is_down());
  record_incident("disk", "has an empty disk");
  disk().format();
}

void NodeState::record_incident(std::string_view kind, std::string_view what, const Machine* other,
                                std::optional<Instant> until) {
  if (run_log() == nullptr) return;
  const std::string& name = host().name();
  std::string text = other == nullptr ? fmt::format("machine '{}' {}", name, what)
                                      : fmt::format("{} -> {}: {}", name, other->name(), what);
  run_log_->record_incident({.kind = std::string(kind),
                             .text = std::move(text),
                             .machine = name,
                             .other = other != nullptr ? other->name() : std::string(),
                             .at = earliest_visible_time(),
                             .until = until});
}

void NodeState::record_changed_files(bool after_crash) {
  FERMATA_ASSERT(run_log_ != nullptr);
  const std::uint64_t version = disk().version();
  if (std::exchange(machine().recorded_disk_, version) == version) return;
  run_log_->saw_files(machine().name(), disk().files(), earliest_visible_time(), after_crash);
}

void NodeState::fail(std::string message) {
  FERMATA_ASSERT(!message.empty());
  const CoroutineBase* const current = runtime_->current();
  stage_.fail(Failure{.verdict = Verdict::Safety,
                      .message = std::move(message),
                      .coroutine = current != nullptr ? current->label() : std::string(),
                      .at = now_,
                      .step = stage_.begun});
}

void NodeState::killed_by_signal(int signum) {
  FERMATA_ASSERT(signum > 0);
  stage_.fail(Failure{.verdict = Verdict::Safety,
                      .message = fmt::format("unhandled signal {} terminated '{}'", signum, name_),
                      .at = now_,
                      .step = stage_.begun});
  leave_run();
}

}  // namespace fermata::sim::detail
