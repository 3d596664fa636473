// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/world.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/io/trigger.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/net/host_address.hpp"
#include "fermata/sim/world/reactor.hpp"
#include "fermata/sim/world/world_state.hpp"

namespace fermata::sim {

std::string_view Node::name() const noexcept { return state_->name(); }

Runtime& Node::runtime() const noexcept { return state_->runtime(); }

Address Node::address(std::uint16_t port) const noexcept {
  FERMATA_ASSERT(state_->ip() != 0);
  return Address::v4(state_->ip(), port);
}

Address Node::address_v6(std::uint16_t port) const {
  return detail::host_address(IpVersion::V6, state_->ip(), port);
}

void Node::signal(int signum) { state_->signal(signum); }

Terminal& Node::terminal() noexcept { return state_->terminal(); }

void Node::crash() { world_->crash(*state_); }

void Node::restart() { world_->restart(*state_); }

Node& Node::may_crash() {
  state_->may_crash();
  return *this;
}

Node& Node::may_pause() {
  state_->may_pause();
  return *this;
}

Node& Node::may_step_clock() {
  state_->may_step_clock();
  return *this;
}

Node& Node::may_refuse_threads() {
  state_->may_refuse_threads();
  return *this;
}

Node& Node::show_real_files(std::string_view path) {
  const std::filesystem::path given(path);
  const bool is_plain =
      given.is_absolute() && given.has_filename() && given.lexically_normal().string() == path;
  if (!is_plain) {
    throw UsageError(fmt::format(
        "show real files: the path is '{}', expected an absolute one without '.' or a slash at the "
        "end",
        path));
  }
  state_->show_real_files(std::string(path));
  return *this;
}

void Node::wipe_disk() {
  if (!state_->is_down()) {
    throw UsageError(fmt::format("wipe disk: node '{}' is not down", name()));
  }
  state_->wipe_disk();
}

void Node::pause() {
  if (!is_up()) throw UsageError(fmt::format("pause: node '{}' is not up", name()));
  state_->pause();
}

void Node::resume() { state_->unpause(); }

void Node::step_wall_clock(Duration by) { state_->step_wall_clock(by); }

void Node::set_clock_drift(std::int32_t ppm) {
  constexpr std::int32_t kMost = detail::NodeClock::kMostDrift;
  if (ppm < -kMost || ppm > kMost) {
    throw UsageError(
        fmt::format("clock drift {}: expected from {} to {} millionths", ppm, -kMost, kMost));
  }
  state_->set_drift(ppm);
}

bool Node::is_up() const noexcept { return state_->phase() != detail::NodeState::Phase::Ended; }

World::World(Decisions& decisions, WorldOptions options)
    : state_(std::make_unique<detail::WorldState>(decisions, options)) {}

World::~World() = default;

Node& World::add_node(std::string_view name, std::function<void()>&& main, bool is_service) {
  detail::NodeState& added = state_->add_node(name, std::move(main), is_service);
  FERMATA_ASSERT(added.number() <= nodes_.size());
  const Node node(*state_, added);
  if (added.number() == nodes_.size()) return nodes_.emplace_back(node);
  return nodes_[added.number()] = node;
}

Node& World::node(std::string_view name, std::function<void()> main) {
  return add_node(name, std::move(main), false);
}

Node& World::service(std::string_view name, std::function<void()> main) {
  return add_node(name, std::move(main), true);
}

Node& World::node(std::string_view name) {
  const std::uint32_t number = state_->known_node(name).number();
  FERMATA_ASSERT(number < nodes_.size());
  return nodes_[number];
}

Link World::link(std::string_view one, std::string_view other) {
  return {state_->link(one, other), &state_->link(other, one)};
}

Link World::way(std::string_view from, std::string_view to) {
  return {state_->link(from, to), nullptr};
}

void World::partition(std::initializer_list<std::string_view> group) {
  state_->partition({group.begin(), group.size()});
}

void World::heal() { state_->heal(); }

void World::nemesis(const NemesisOptions& options) { state_->begin_nemesis(options); }

void World::share_folder(std::string_view path) { state_->shared_disks().add(path); }

void World::crash_folder(std::string_view path) { state_->crash_folder(path); }

void World::set_addresses(std::string_view host, std::span<const Address> addresses) {
  state_->network().names().set(host, {addresses.begin(), addresses.end()});
}

void World::program(std::string_view name, ScriptedProgram script) {
  program(name, [script = std::move(script)](const ProcessOptions&) { return script; });
}

void World::program(std::string_view name, ProgramMaker maker) {
  state_->program_table().set(name, std::move(maker));
}

void World::at(Duration delay, std::function<void()> action) {
  state_->at(delay, std::move(action));
}

void World::run(SourcePlace place) {
  if (!state_->in_run()) return state_->run();
  FERMATA_REQUIRE(state_->running_node() != nullptr, "run: the world runs already");
  Trigger one_ended;
  struct Watch {
    detail::WorldState& world;
    ~Watch() { world.tell_of_ends(nullptr); }
  };
  state_->tell_of_ends([&] { one_ended.fire(); });
  const Watch watch{*state_};
  while (state_->others_run()) one_ended.wait({}, place);
}

void World::fail(Verdict verdict, std::string message, std::string message_lines) {
  state_->fail(Failure{.verdict = verdict,
                       .message = std::move(message),
                       .message_lines = std::move(message_lines),
                       .coroutine = state_->current_coroutine(),
                       .at = now(),
                       .step = state_->begun});
}

void World::fail(Failure failure) { state_->fail(std::move(failure)); }

void World::skip(std::string reason) { state_->skip(std::move(reason)); }

void World::reset() { state_->reset(state_->options(), state_->instruments()); }

void World::reset(const WorldOptions& options) { state_->reset(options, {}); }

const std::optional<Failure>& World::failure() const noexcept { return state_->failure(); }

const std::optional<std::string>& World::skipped() const noexcept { return state_->skipped(); }

Instant World::now() const noexcept { return state_->now(); }

std::uint64_t World::steps() const noexcept { return state_->steps; }

std::uint64_t World::trace_hash() const noexcept { return state_->hash.value(); }

const FaultCounts& World::fault_counts() const noexcept { return state_->faults().counts(); }

std::string World::faults() const { return state_->faults().text(); }

const std::vector<std::string>& World::log() const noexcept { return state_->log(); }

namespace {

/// Where the code that calls `what` runs.
detail::SimReactor& simulated(const char* what) {
  auto* reactor = dynamic_cast<detail::SimReactor*>(&current_runtime().reactor());
  if (reactor != nullptr) return *reactor;
  throw UsageError(fmt::format("{}: expected a call inside a simulated node", what));
}

}  // namespace

void World::sharing_is_announced() noexcept { state_->sharing_announced = true; }

void touches(std::string_view name) { simulated("touches").announced(key_of(name), true); }

void reads(std::string_view name) { simulated("reads").announced(key_of(name), false); }

void begin_process(std::string_view name, std::function<void()> main) {
  FERMATA_REQUIRE(posix::is_linked(), "begin_process: expected a program with fermata::posix");
  FERMATA_REQUIRE(main != nullptr, "begin_process: expected a program to run");
  simulated("begin_process").begin_process(name, std::move(main));
}

void consume(Duration cost) {
  if (cost < Duration::zero()) {
    throw UsageError(fmt::format("consume {} ns: expected zero or more", cost.count()));
  }
  simulated("consume").consume(cost);
}

}  // namespace fermata::sim
