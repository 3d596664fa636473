// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/world_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/sim/audit/debugger_stops.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/guard/thrown_errors.hpp"
#include "fermata/sim/posix/library_images.hpp"
#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/waits/explain.hpp"
#include "fermata/sim/world/nemesis.hpp"
#include "fermata/sim/world/switching.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::uint32_t kFirstThread = 1u << 31;  // Their numbers come after those of all nodes.
bool same(const StackOptions& a, const StackOptions& b) noexcept {
  return a.stack_bytes == b.stack_bytes && a.guards == b.guards;
}

/// What coroutines wait for on the nodes that have not ended.
Explanation waits_of(const std::vector<NodeState*>& nodes, Ending ending, std::uint64_t steps) {
  std::vector<WaitSource> sources;
  for (const NodeState* node : nodes) {
    if (node->phase() == NodeState::Phase::Ended) continue;
    sources.push_back(node->wait_source());
    sources.back().paused = node->is_paused();
  }
  return explain_waits(sources, ending, steps);
}

}  // namespace

WorldState::WorldState(Decisions& decisions, WorldOptions options)
    : Stage(decisions, options), stack_fault_guard_(&running_context_, &WorldState::describe_node) {
  adopt_thread_stack(thread_context_);
  reset(options, {});
}

WorldState::~WorldState() { drop_thread_stack(thread_context_); }

// --- before the run ---

NodeState& WorldState::add_node(std::string_view name, std::function<void()>&& main,
                                bool is_service) {
  FERMATA_REQUIRE(!over(), "node: the run is over");
  if (find_node(name) != nullptr) {
    throw UsageError(fmt::format("node '{}': there is one of that name already", name));
  }
  const auto known = std::find_if(known_nodes_.begin(), known_nodes_.end(),
                                  [&](const auto& node) { return node->name() == name; });
  NodeState* node = known != known_nodes_.end() ? known->get() : nullptr;
  if (node == nullptr) {
    node = known_nodes_.emplace_back(std::make_unique<NodeState>(*this, name)).get();
  }
  nodes_.push_back(node);
  sharing_unknown = sharing_unknown || nodes_.size() > 1;
  node->begin_run(std::move(main), is_service, static_cast<std::uint32_t>(nodes_.size() - 1));
  FERMATA_ASSERT(find_node(name) == node);
  FERMATA_ASSERT(find_node(node->ip()) == node);
  FERMATA_ASSERT(node->number() + 1 == nodes_.size());
  return *node;
}

void WorldState::add_thread(const NodeState& spawner, const std::string& name,
                            std::shared_ptr<fermata::detail::ThreadLink> link) {
  std::erase_if(threads_,
                [](const NodeState* thread) { return thread->phase() == NodeState::Phase::Ended; });
  std::unique_ptr<NodeState>& thread = known_threads_[name];
  if (thread == nullptr) thread = std::make_unique<NodeState>(*this, name, &spawner.machine());
  FERMATA_ASSERT(thread->phase() == NodeState::Phase::Ended);
  FERMATA_ASSERT(&thread->machine() == &spawner.machine());
  threads_.push_back(thread.get());
  thread->begin_run(std::move(link), spawner, kFirstThread + threads_begun_++);
}

std::vector<NodeState*> WorldState::programs() const {
  std::vector<NodeState*> all = nodes_;
  all.insert(all.end(), threads_.begin(), threads_.end());
  return all;
}

NodeState* WorldState::find_node(std::string_view name) const noexcept {
  for (NodeState* node : nodes_) {
    if (node->name() == name) return node;
  }
  return nullptr;
}

NodeState* WorldState::find_node(std::uint32_t ip) const noexcept {
  if (nodes_.empty() || ip < nodes_.front()->ip()) return nullptr;
  const std::size_t number = ip - nodes_.front()->ip();
  return number < nodes_.size() ? nodes_[number] : nullptr;
}

NodeState& WorldState::known_node(std::string_view name) const {
  NodeState* node = find_node(name);
  if (node == nullptr) throw UsageError(fmt::format("node '{}': there is none", name));
  return *node;
}

// --- actions ---

void WorldState::at(Duration delay, std::function<void()> action) {
  if (running_node_ != nullptr || acting_ == nullptr) {
    plan(delay, running_node_, std::move(action));
  } else if (!acting_->is_orphan()) {
    plan(delay, acting_->planner, std::move(action));
  }
}

void WorldState::later(Duration delay, std::function<void()> action) {
  plan(delay, nullptr, std::move(action));
}

void WorldState::plan(Duration delay, const NodeState* planner, std::function<void()>&& action) {
  sharing_unknown = true;
  Action& planned = actions_.emplace_back(*this, planner, std::move(action));
  action_agenda_.schedule(planned, now_ + delay, 0);
}

// It may crash the very machine that has planned it, and is then not destroyed under its own feet.
void WorldState::Action::happen() {
  FERMATA_ASSERT(!is_orphan());
  const std::function<void()> action = std::exchange(function, nullptr);
  world.acting_ = this;
  action();
}

void WorldState::drop_actions_of(const NodeState& program) {
  std::uint64_t dropped = 0;
  for (std::size_t i = 0; i < actions_.size(); ++i) {
    Action& action = actions_[i];
    if (action.planner != &program || !action.is_scheduled()) continue;
    action.cancel();
    ++dropped;
    const std::function<void()> last = std::exchange(action.function, nullptr);
  }
  if (dropped == 0 || over() || !others_run()) return;
  program.report(
      fmt::format("{} of world.at() dropped: their program ends", counted(dropped, "action")));
}

// --- links ---

LinkState& WorldState::link(std::string_view from, std::string_view to) {
  NodeState& sender = known_node(from);
  NodeState& receiver = known_node(to);
  FERMATA_REQUIRE(&sender != &receiver, "link: expected two machines");
  return network_.links().between(sender, receiver);
}

void WorldState::partition(std::span<const std::string_view> group) {
  std::vector<bool> inside(nodes_.size());
  for (const std::string_view name : group) inside[known_node(name).number()] = true;
  for (NodeState* from : nodes_) {
    for (NodeState* to : nodes_) {
      if (inside[from->number()] != inside[to->number()]) {
        network_.links().between(*from, *to).cut();
      }
    }
  }
}

void WorldState::heal() {
  for (NodeState* node : nodes_) node->note_course(false);
  if (nemesis_ != nullptr) nemesis_->ends();
  faults_.stop();
  if (instruments_.run_log != nullptr && !over()) {
    instruments_.run_log->record_incident(
        {.kind = "heal", .text = "all links are mended", .at = now_});
  }
  network_.links().for_each([](LinkState& link) { link.heal(); });
}

void WorldState::begin_nemesis(const NemesisOptions& options) {
  if (nemesis_ != nullptr) throw UsageError("nemesis: this run has one already");
  if (over()) throw UsageError("nemesis: the run is over");
  nemesis_ = std::make_unique<Nemesis>(*this, options);
  FERMATA_ASSERT(nemesis_ != nullptr);
}

// --- waiting for the others ---

void WorldState::tell_of_ends(std::function<void()> told) {
  FERMATA_REQUIRE(!told || !on_end_, "run: another program waits for the other nodes already");
  FERMATA_ASSERT(running_node_ != nullptr);
  on_end_ = std::move(told);
  on_end_node_ = running_node_;
}

// For whoever is told it is not earlier than for whoever has ended.
void WorldState::tell_of_end() {
  FERMATA_ASSERT(running_node_ == nullptr);
  if (!on_end_) return;
  FERMATA_ASSERT(on_end_node_ != nullptr);
  on_end_node_->advance(now_);
  on_end_();
}

bool WorldState::others_run() const noexcept {
  FERMATA_ASSERT(running_node_ != nullptr);
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const NodeState* node) {
    const bool runs = node->phase() != NodeState::Phase::Ended || may_come_up(*node);
    return node != &running_node_->machine() && !node->is_service() && runs;
  });
}

void WorldState::reset(const WorldOptions& options, const Instruments& instruments) {
  FERMATA_REQUIRE(!in_run_, "reset: the world runs");
  FERMATA_ASSERT(running_node_ == nullptr);
  nemesis_.reset();
  nodes_.clear();
  threads_.clear();
  threads_begun_ = 0;
  turns_.clear();
  programs_left_ = 0;
  if (!same(options.stacks, options_.stacks)) {
    known_threads_.clear();
    known_nodes_.clear();
  }
  options_ = options;
  instruments_ = instruments;
  faults_.begin(options.faults, instruments.run_log != nullptr ? this : nullptr);
  network_.reset();
  program_table_.reset();
  shared_disks_.clear();
  action_agenda_.clear();
  if (!actions_.empty()) actions_.clear();
  hash.reset();
  steps = 0;
  begun = 0;
  step_hashes.clear();
  sharing_announced = false;
  sharing_unknown = false;
  pledges = {};
  services_stopping_ = false;
  rounds_of_actions_ = 0;
  now_ = {};
  if (failure_) failure_.reset();
  if (skipped_) skipped_.reset();
  log_.clear();
  histories_.clear();
}

std::size_t WorldState::keep_history(std::optional<std::size_t> number, std::string json) {
  if (!number) {
    number = histories_.size();
    histories_.emplace_back();
  }
  FERMATA_ASSERT(*number < histories_.size());
  histories_[*number] = std::move(json);
  return *number;
}

// --- the run ---

void WorldState::run() {
  FERMATA_REQUIRE(!in_run_, "run: the world runs already");
  told_of_steps = decisions_.told_of_steps();
  wants_uses = told_of_steps != nullptr && told_of_steps->news() == StepNews::Footprints;
  in_run_ = true;
  if (posix::is_linked()) LibraryImages::instance().begin_run();
  const Guarded guarded(*this);
  const NoteThrows note_throws(instruments_.run_log != nullptr);
  while (act()) {
  }
  if (nemesis_ != nullptr) nemesis_->ends();
  for (NodeState* node : nodes_) node->record_files();
  unwind_rest();
  in_run_ = false;
  if (posix::is_linked()) LibraryImages::instance().end_run();
}

FERMATA_HOT bool WorldState::act() {
  FERMATA_ASSERT(running_node_ == nullptr);
  if (over()) return false;
  if (only_services_left()) [[unlikely]] {
    for (NodeState* node : nodes_) {
      if (node->phase() != NodeState::Phase::Ended) node->request_shutdown();
    }
    services_stopping_ = true;
  }
  auto* const node = static_cast<NodeState*>(turns_.first());
  const auto comes_up = [&](const NodeState* each) { return may_come_up(*each); };
  if (node == nullptr && std::none_of(nodes_.begin(), nodes_.end(), comes_up)) return false;
  const Instant node_acts = turns_.earliest();
  const Instant action_due = action_agenda_.earliest();
  const Instant next = std::min(node_acts, action_due);
  if (next == Instant::never()) [[unlikely]] {
    stall();
  } else if (within_time_limit(next)) [[likely]] {
    if (action_due <= node_acts) {
      if (!within_instant_limit(action_due)) return true;
      time_is(action_due);
      run_actions();
      tell_of_end();
    } else {
      FERMATA_ASSERT(node != nullptr);
      node->resume(next);
      if (node->phase() == NodeState::Phase::Ended) tell_of_end();
    }
  }
  return true;
}

void WorldState::run_actions() {
  FERMATA_ASSERT(acting_ == nullptr);
  try {
    action_agenda_.run_due(now_);
  } catch (...) {
    fail(Failure{.verdict = Verdict::Safety,
                 .message = fermata::describe(std::current_exception()),
                 .at = now_,
                 .step = begun});
  }
  acting_ = nullptr;
}

bool WorldState::within_instant_limit(Instant when) {
  if (when > now_) rounds_of_actions_ = 0;
  if (++rounds_of_actions_ <= options_.instant_limit) return true;
  stop_by_limit(fmt::format("livelock: more than {} rounds of actions while time stands still",
                            options_.instant_limit));
  return false;
}

bool WorldState::nobody_comes_up() const noexcept {
  return std::all_of(nodes_.begin(), nodes_.end(), [&](const NodeState* node) {
    return node->is_service() || !may_come_up(*node);
  });
}

void WorldState::began(NodeState& node) noexcept {
  if (!node.is_service()) {
    ++programs_left_;
  } else if (services_stopping_) {  // It was down when the others were told.
    node.request_shutdown();
  }
}

void WorldState::ended(const NodeState& node) noexcept {
  if (node.is_service()) return;
  FERMATA_ASSERT(programs_left_ > 0);
  --programs_left_;
}

bool WorldState::end_by_time_limit() {
  stop_by_limit(
      fmt::format("the run has not ended within {} s of virtual time",
                  std::chrono::duration_cast<std::chrono::seconds>(options_.time_limit).count()));
  return false;
}

void WorldState::stop_by_limit(std::string message) {
  Failure failure = limit_failure(std::move(message), waits_of(programs(), Ending::Endless, steps));
  failure.at = now_;
  failure.step = begun;
  fail(std::move(failure));
}

void WorldState::stall() {
  FERMATA_ASSERT(turns_.earliest() == Instant::never());
  FERMATA_ASSERT(action_agenda_.earliest() == Instant::never());
  std::size_t waiting = 0;
  for (const NodeState* node : programs()) {
    if (node->phase() != NodeState::Phase::Ended) waiting += node->runtime().registry().size();
  }
  Failure failure;
  failure.verdict = Verdict::Liveness;
  failure.message =
      fmt::format("stalled: no pending events, {} blocked", counted(waiting, "coroutine"));
  failure.at = now_;
  failure.step = begun;
  Explanation waits = waits_of(programs(), Ending::Quiet, steps);
  failure.explanation = std::move(waits.text);
  failure.wait_graph = std::move(waits.json);
  fail(std::move(failure));
}

void WorldState::unwind_rest() {
  hash.stop();
  FERMATA_ASSERT(over());
  faults_.stop();
  for (auto thread = threads_.rbegin(); thread != threads_.rend(); ++thread) (*thread)->abandon();
  for (NodeState* node : nodes_) node->abandon();
}

void WorldState::fail(Failure failure) {
  if (failure_ || over()) return;
  failure_ = std::move(failure);
  stop_at_failure();
  const std::string faults = failure_->by_limit ? faults_.names_going() : std::string();
  if (!faults.empty()) {
    failure_->beneath += fmt::format(
        "faults were still going ({}): world.heal() ends them, and what should succeed then has "
        "to\n",
        faults);
  }
  hash.stop();
  faults_.stop();
  FERMATA_ASSERT(over());
}

void WorldState::skip(std::string reason) {
  FERMATA_REQUIRE(in_run_, "skip: the world does not run");
  if (skipped_ || over()) return;
  skipped_ = std::move(reason);
  hash.stop();
  faults_.stop();
  FERMATA_ASSERT(!failure_);
}

void WorldState::fail_guarded(const char* function, std::string coroutine,
                              const std::string& called_in) {
  FERMATA_ASSERT(in_run_);
  fail(Failure{.verdict = Verdict::Nondeterminism,
               .message = fmt::format("simulated code calls {}", function),
               .coroutine = std::move(coroutine),
               .at = now_,
               .step = begun,
               .explanation = "called in\n" + called_in});
}

// --- reports ---

// What shows where it takes effect, or in the fate of a message, or is no more than slow, is not
// told once more.
void WorldState::struck(Fault fault, const std::string& sentence) {
  FERMATA_ASSERT(instruments_.run_log != nullptr);
  switch (fault) {
    case Fault::Reset:
    case Fault::Refused:
    case Fault::Hung:
    case Fault::DiskFull:
    case Fault::DiskError:
    case Fault::DnsFailure:
    case Fault::Point:
    case Fault::WatchOverflow:
    case Fault::OutOfDescriptors:
    case Fault::SpawnFailure:
    case Fault::ThreadCreationFailure:
    case Fault::Interrupted:
    case Fault::SpuriousReadiness:
      break;
    default:
      return;
  }
  const NodeState* const node = running_node_;
  instruments_.run_log->record_incident(
      {.kind = to_string(fault),
       .text = sentence.empty() ? to_string(fault) : sentence,
       .machine = node != nullptr ? node->machine().name() : std::string(),
       .at = node != nullptr ? node->now() : now_});
}

std::string WorldState::current_coroutine() const {
  const CoroutineBase* current =
      running_node_ != nullptr ? running_node_->runtime().current() : nullptr;
  return current != nullptr ? current->label() : std::string();
}

std::string WorldState::current_machine() const {
  return running_node_ != nullptr ? running_node_->name() : std::string();
}

void WorldState::printed(std::string_view text, bool continues) {
  if (instruments_.run_log == nullptr || over()) return;
  if (running_node_ == nullptr) return instruments_.run_log->printed({}, text, continues, now_);
  instruments_.run_log->printed(running_node_->name(), text, continues,
                                running_node_->runtime().now());
}

void WorldState::describe_node(void* owner, char* out, std::size_t size) noexcept {
  std::snprintf(out, size, "the program of node '%s'",
                static_cast<const NodeState*>(owner)->name().c_str());
}

}  // namespace fermata::sim::detail
