// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/scope_base.hpp"
#include "fermata/loop/machine.hpp"

namespace fermata::loop::detail {

namespace {

constexpr std::size_t kSpareRunners = 32;  // More are let go when their callbacks return.

}  // namespace

Machine::Machine(Runtime& of, const LoopOptions& wanted)
    : runtime(of),
      options(wanted),
      slot_(of.allocate_slot()),
      parking_(of, backend::EventKind::Trigger, "event loop: anything to do"),
      handback_(of, backend::EventKind::Plain, "event loop: a resumed callback's next suspension"),
      ended_(of, backend::EventKind::Plain, "event loop: its end") {}

Machine::~Machine() = default;

void Machine::close() noexcept {
  FERMATA_ASSERT(!running_);  // A loop that runs is destroyed.
  {
    const std::lock_guard lock(posted_lock_);
    closed_ = true;  // From here on what is registered is released at once.
  }
  trigger_watch_.cancel();
  if (trigger_) trigger_->close();
  end_members();
  while (Source* const source = all_.first()) forget(*source, nullptr);
  alarm_.close();
  microtasks_.clear();
  take_posted_tasks().clear();
  end_members();  // Connections that destructors have made meanwhile.
  refuse_suspended();
  if (const std::exception_ptr error = take_error()) runtime.report_unhandled(error);
}

// Nobody is left who could resume them. Who has been resumed already gets its answer.
void Machine::refuse_suspended() noexcept {
  Runner* runner = suspended_.first();
  while (runner != nullptr) {
    Runner& each = *runner;
    runner = Runner::List::after(each);
    each.coroutine->cancel();
  }
  for (Fiber* fiber = beside_.first(); fiber != nullptr; fiber = Fiber::List::after(*fiber)) {
    if (fiber->state == FiberState::Pending) {
      fiber->state = FiberState::Scheduled;
      fiber->error = std::make_exception_ptr(LoopEnded(kLoopHasEnded));
    }
    fiber->gate->wake();
  }
}

void Machine::end_members() noexcept {
  while (Member* const member = members.first()) {
    members.remove(*member);
    member->loop_ended();
  }
}

// --- the outside ---

void Machine::poke() noexcept {
  if (!std::exchange(waiting_, false)) return;
  parking_.wake();
}

void Machine::queue(Microtask task) {
  if (closed_) return;
  microtasks_.push(std::move(task));
  poke();
}

void Machine::listen() {
  try {
    trigger_ = runtime.reactor().triggers().make();
  } catch (const Unsupported&) {
    return;  // Then post() says so.
  }
  trigger_->set_hidden(true);
  trigger_watch_ = subscribe(*trigger_, [this](Event&, const Outcome&) { take_posted(); });
  trigger_->start();
}

void Machine::post(Task task) {
  if (!trigger_) throw Unsupported("triggers", runtime.reactor().name());
  {
    const std::lock_guard lock(posted_lock_);
    if (closed_) return;
    posted_.push_back(std::move(task));
  }
  trigger_->fire();
}

std::vector<Task>& Machine::take_posted_tasks() {
  const std::lock_guard lock(posted_lock_);
  taken_.swap(posted_);
  return taken_;
}

void Machine::take_posted() {
  for (Task& task : take_posted_tasks()) queue({std::move(task), nullptr});
  taken_.clear();
}

void Machine::stop() noexcept {
  if (!running_) return;
  stop_ = true;
  poke();
}

// --- a run ---

void Machine::enter(std::shared_ptr<Fiber> main, bool serving, const SourcePlace& place) {
  static_cast<void>(runtime.scheduler().require_suspendable("run"));
  if (!errors_.empty()) return;
  FERMATA_ASSERT(!running_ && !closed_);
  running_ = true;
  serving_ = serving;
  stop_ = false;
  polls_next_ = false;
  idle_told_ = false;
  main_ = std::move(main);
  struct Leave {
    Machine& machine;
    ~Leave() {
      machine.main_ = nullptr;
      if (machine.running_) machine.finish();
    }
  };
  const Leave leave{*this};
  unpark_polls();
  start_runner();
  if (running_) runtime.scheduler().wait_for(ended_, place);
}

void Machine::finish() noexcept {
  FERMATA_ASSERT(running_);
  running_ = false;
  driver_ = nullptr;
  park_polls();
  while (Runner* const spare = idle_.first()) {
    idle_.remove(*spare);
    spare->call.wake();
  }
  poke();
  if (std::exchange(resumed_, nullptr) != nullptr) handback_.wake();
  ended_.wake();
}

void Machine::park_polls() noexcept {
  for (PollSource* source = polls_.first(); source != nullptr;
       source = PollSource::Watched::after(*source)) {
    source->proxy->stop();
  }
}

void Machine::unpark_polls() {
  for (PollSource* source = polls_.first(); source != nullptr;) {
    PollSource& each = *source;
    source = PollSource::Watched::after(each);
    try {
      each.proxy->start();
    } catch (...) {
      polls_.remove(each);
      each.watched = false;
      leave_line(each);
      each.invokable = false;
      push(each, Line::Enabling);  // Its activation says what is wrong with it.
    }
  }
}

// --- runners ---

void Machine::start_runner() {
  FERMATA_ASSERT(running_ && driver_ == nullptr);
  auto runner = std::make_shared<Runner>(*this);
  Runner& me = *runner;
  driver_ = &me;
  auto body = [machine = shared_from_this(), runner] { machine->run_runner(*runner); };
  const auto coroutine =
      fermata::detail::spawn_in(runtime, Name("event loop"), SourcePlace::current(),
                                Priority::Normal, &runtime.root_scope(), std::move(body));
  if (coroutine->is_cancellation_requested()) {
    interrupt(std::make_exception_ptr(Cancellation("The event loop's coroutine was cancelled")));
    finish();
  }
}

void Machine::appoint() {
  FERMATA_ASSERT(running_ && driver_ == nullptr);
  Runner* const spare = idle_.first();
  if (spare == nullptr) return start_runner();
  idle_.remove(*spare);
  driver_ = spare;
  spare->call.wake();
}

void Machine::run_runner(Runner& me) {
  static constexpr SourcePlace kPlace = {"event loop", "", 0};
  me.coroutine = runtime.current();
  me.coroutine->slot(slot_) = std::shared_ptr<void>(me.shared_from_this(), &me.home);
  me.coroutine->add_switch_handler(me.shared_from_this());
  try {
    for (;;) {
      if (drives(me)) drive(me);
      if (!running_ || idle_.size() >= kSpareRunners) break;
      idle_.push_back(me);
      runtime.scheduler().wait_for(me.call, kPlace);
    }
  } catch (...) {
    runner_failed(me, std::current_exception());
    left(me);
    throw;
  }
  left(me);
}

void Machine::runner_failed(Runner& me, const std::exception_ptr& error) noexcept {
  for (Runner* spare = idle_.first(); spare != nullptr; spare = Runner::List::after(*spare)) {
    if (spare != &me) continue;
    idle_.remove(me);
    break;
  }
  if (driver_ != &me || !running_) return;
  errors_.push_back(error);
  finish();
}

void Machine::left(Runner& runner) {
  if (resumed_ == &runner) {
    resumed_ = nullptr;
    handback_.wake();
  }
  if (!runner.in_frame || runner.detached) return;
  FERMATA_ASSERT(runner.coroutine != nullptr);
  runner.detached = true;
  suspended_.push_back(runner);
  if (runner.source != nullptr && !options.overlap) mask(*runner.source);
  if (!drives(runner)) return;
  driver_ = nullptr;
  appoint();
}

std::vector<std::string> Machine::suspended_texts() const {
  std::vector<std::string> texts;
  for (const Runner* runner = suspended_.first(); runner != nullptr;
       runner = Runner::List::after(*runner)) {
    texts.push_back(runner->text());
  }
  return texts;
}

// --- fibers ---

FiberHome& Machine::home() {
  CoroutineBase* const current = runtime.current();
  FERMATA_REQUIRE(current != nullptr, "only a coroutine has a suspension and fiber-local values");
  std::shared_ptr<void>& slot = current->slot(slot_);
  if (slot == nullptr) slot = std::make_shared<FiberHome>();
  return *static_cast<FiberHome*>(slot.get());
}

std::shared_ptr<Fiber> Machine::fiber() {
  FiberHome& mine = home();
  if (mine.fiber != nullptr && mine.fiber->state != FiberState::Dead) return mine.fiber;
  auto made = std::make_shared<Fiber>();
  made->machine = weak_from_this();
  made->coroutine = runtime.current();
  made->runner = mine.runner;
  mine.fiber = made;
  return made;
}

bool Machine::in_callback() const noexcept {
  CoroutineBase* const current = runtime.current();
  if (current == nullptr) return false;
  const auto* const mine = static_cast<const FiberHome*>(current->slot(slot_).get());
  return mine != nullptr && mine->runner != nullptr && mine->runner->in_frame;
}

}  // namespace fermata::loop::detail
