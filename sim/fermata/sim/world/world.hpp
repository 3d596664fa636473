// SPDX-License-Identifier: Apache-2.0
#pragma once

// A made-up world: a virtual clock, a network, and nodes that run programs. One run of it is a
// function of the program and of the chooser's answers alone.
//
// Time       Stands still while code runs (but for consume()) and jumps to the next thing that
//            happens when every node waits.
// Reuse      reset() makes it ready for the next run and keeps all memory: a steady exploration
//            allocates nothing.
// Threads    The thread that made it.
// Nesting    The run begins on the thread's own stack, outside every node.

#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/core/lazy_body.hpp"
#include "fermata/reactor/address.hpp"
#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/net/link.hpp"
#include "fermata/sim/net/terminal.hpp"
#include "fermata/sim/process/program_table.hpp"
#include "fermata/sim/record/failure.hpp"
#include "fermata/sim/world/nemesis_options.hpp"
#include "fermata/sim/world/world_options.hpp"

namespace fermata {
class Runtime;
}

namespace fermata::sim {

class Decisions;

namespace detail {
class WorldAccess;
class WorldState;
class NodeState;
}  // namespace detail

/// One machine of a world.
class Node {
 public:
  [[nodiscard]] std::string_view name() const noexcept;
  [[nodiscard]] Runtime& runtime() const noexcept;
  /// The address at which other machines reach it.
  [[nodiscard]] Address address(std::uint16_t port) const noexcept;
  /// The address of version 6 at which others reach it: fd00::/96, then the bytes of address().
  [[nodiscard]] Address address_v6(std::uint16_t port) const;

  /// Sends a signal to the program, which sees it in a later turn of its reactor.
  void signal(int signum);

  /// The terminal of the program's standard streams: type there, and read what was printed.
  [[nodiscard]] Terminal& terminal() noexcept;

  /// Crashes the machine: its program is unwound, and nothing that it does meanwhile has any effect
  /// outside. Peers of its connections see a reset, or silence; each change that its disk has not
  /// synced is kept, lost or torn: all of this is drawn. Called in a program, it takes effect when
  /// the present step ends. Throws UsageError when the program has ended, or the world does not
  /// run.
  void crash();
  /// Restarts the machine after a crash: the program begins again, on the disk as it is, at the
  /// same address. Called in a program, it takes effect when the present step ends. Results of
  /// runtime() from before are invalid. UsageError when it has not crashed.
  void restart();
  /// Lets the fault `crash` strike this machine, from now on in this run; it does so in most runs.
  /// The machine goes down at one of its waits, or some drawn time after that, and comes up again
  /// later. Each wait that an earlier run has reached is equally likely, so that the machine
  /// crashes while it is busy, however short or long the run. For programs that must survive a
  /// crash.
  Node& may_crash();
  /// Lets the fault `pause` strike this machine, from now on in this run: it stops for a drawn
  /// time, up to 8 s. For programs that do not take a late answer for a missing one.
  Node& may_pause();
  /// Lets the fault `clock-step` strike this machine, from now on in this run: its wall clock is
  /// set, forwards or backwards, by up to 131 s each time. For programs that do not measure with
  /// the wall clock. One that is only wrong from the beginning is the fault `clock`, which strikes
  /// every machine.
  Node& may_step_clock();
  /// Lets the fault `thread-creation-failure` strike this machine, from now on in this run:
  /// `pthread_create`, `thrd_create` and `std::thread` fail with EAGAIN in code that was not
  /// written for Fermata. For programs that go on with fewer threads.
  Node& may_refuse_threads();
  /// Shows foreign code the real file or directory at `path`, with what is below it, in this run:
  /// "/usr/share/zoneinfo". It can be read and not changed; times, numbers and owners are not the
  /// real ones. A run depends on what these files contain. UsageError unless the path is absolute
  /// and plain, without "." or a slash at the end.
  Node& show_real_files(std::string_view path);
  /// Wipes the disk of a machine that is down: it comes up with an empty one. UsageError when it is
  /// not down.
  void wipe_disk();
  /// Whether its program runs.
  [[nodiscard]] bool is_up() const noexcept;

  /// Stops the program until resume(): from the end of the present step on it notices nothing that
  /// happens to it. UsageError when it has ended.
  void pause();
  void resume();

  /// Moves the wall clock, forwards or backwards. No wait of Fermata is affected; what foreign code
  /// does until a time of that clock ends at that time as it is now.
  void step_wall_clock(Duration by);
  /// Lets its clock gain `ppm` millionths of a second in each second from now on, or lose them when
  /// negative. UsageError unless within 100,000 either way.
  void set_clock_drift(std::int32_t ppm);

 private:
  friend class World;
  Node(detail::WorldState& world, detail::NodeState& state) noexcept
      : world_(&world), state_(&state) {}

  detail::WorldState* world_;
  detail::NodeState* state_;
};

/// The counts of a sweep.
struct SweepCounts {
  std::uint64_t runs = 0;
  std::uint64_t cancellations = 0;       // Delivered as soon as somebody had suspended.
  std::uint64_t late_cancellations = 0;  // Delivered between a wake and its turn.
  std::uint64_t timeouts = 0;
};

/// The program that follows each run of a sweep; either part may be missing.
struct SweepSequel {
  /// Uses what the program has used, in a coroutine of its own. It must return: it fails when the
  /// interrupted program has lost, or still holds, something that it needs.
  std::function<void()> then = nullptr;
  /// Examines the final state, after `then`.
  std::function<void()> check = nullptr;
};

class World {
 public:
  /// A world whose decisions go to `decisions`, which must outlive it.
  explicit World(Decisions& decisions, WorldOptions options = {});
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  /// A machine called `name` whose program is `main`. Others reach it at its address() and by its
  /// name; it reaches itself at 127.0.0.1 too. The world runs until every such program has ended. A
  /// node that is added by a running program begins when that program gives way; what `main` refers
  /// to must outlive it. Throws UsageError when the name is taken.
  Node& node(std::string_view name, std::function<void()> main);
  /// A `main` that returns a Task, which is awaited.
  Node& node(std::string_view name, fermata::detail::ReturnsLazy auto main) {
    return node(name,
                std::function<void()>(fermata::detail::LazyBody<decltype(main)>{std::move(main)}));
  }

  /// A machine that serves the others: when they have all ended it is shut down. So it outlives the
  /// program that adds it, and `main` must not refer to what is local there.
  Node& service(std::string_view name, std::function<void()> main);
  /// A `main` that returns a Task, which is awaited.
  Node& service(std::string_view name, fermata::detail::ReturnsLazy auto main) {
    return service(
        name, std::function<void()>(fermata::detail::LazyBody<decltype(main)>{std::move(main)}));
  }

  /// The machine called `name`. Throws UsageError when there is none.
  [[nodiscard]] Node& node(std::string_view name);

  /// The link between two machines, in both directions, or only the way from the first to the
  /// second; both may be the same machine. Throws UsageError when a machine does not exist.
  [[nodiscard]] Link link(std::string_view one, std::string_view other);
  [[nodiscard]] Link way(std::string_view from, std::string_view to);

  /// Cuts the links between the machines of `group` and all other machines that exist now. Throws
  /// UsageError when a machine does not exist.
  void partition(std::initializer_list<std::string_view> group);

  /// Ends all disturbance from now on: no further faults strike, and every link is mended and
  /// released. For checking whether programs recover. Machines that are down stay down.
  void heal();

  /// Lets a nemesis loose upon machines, from now on in this run: it crashes, cuts off and pauses
  /// them, just after moments that matter and at other times, in every run otherwise. Moments that
  /// matter are the sync of a file or directory, a rename, a message that is sent just after a sync
  /// (on a machine that has synced nothing, each message), and the marks FERMATA_REACHABLE and
  /// FERMATA_SOMETIMES, such as one of an election. Its strikes are the faults `crash`, `partition`
  /// and `pause`, and it obeys the set of faults that a run may have. heal() ends it. For programs
  /// that must survive all that. Throws UsageError when a machine does not exist or is named twice,
  /// a number is negative or not finite, the quorum is more than there are machines, `until` is
  /// negative, or this run has a nemesis already.
  void nemesis(const NemesisOptions& options = {});

  /// Defines the addresses of `host` for the name service from now on; their ports are
  /// ignored, and no addresses mean that there is no such host. Names of nodes need no definition.
  void set_addresses(std::string_view host, std::span<const Address> addresses);

  /// Gives all machines of this run the same folder at `path`, empty, as a server does over a
  /// network; sim/fs/shared_disk.hpp says what may go wrong. Throws UsageError when `path` is not
  /// absolute, or one such folder is inside of another.
  void share_folder(std::string_view path);
  /// Crashes the server of a shared folder and brings it up again, between two calls: what nobody
  /// has synced is lost in part, and what machines have open there is stale. Throws UsageError when
  /// no folder is shared at `path`.
  void crash_folder(std::string_view path);

  /// Registers a program called `name`, a path or a name for PATH, on every machine from now on. A
  /// program whose name is a whole shell command defines what `sh -c` does with that command.
  void program(std::string_view name, ScriptedProgram script);
  /// Registers a program whose script depends on arguments or environment.
  void program(std::string_view name, ProgramMaker maker);

  /// Calls `action` after `delay`. It runs in no node and must not suspend. An action that a
  /// program schedules, itself or in another action of its own, ends with that program's body: when
  /// the function that the machine or thread was given has returned or was unwound, a pending
  /// action is destroyed and never called. So it may refer to local variables of the body. An
  /// action that is scheduled outside of all programs happens as long as the world runs.
  void at(Duration delay, std::function<void()> action);

  /// Runs `program` in a coroutine of the current node again and again: once for each suspension
  /// point that it and its coroutines reach, with a cancellation there; once more with a
  /// cancellation that comes when the wait has been answered already; and, where the wait has a
  /// timeout, with that timeout. Coroutines that the program leaves running are then cancelled, and
  /// the sequel follows, which is not interrupted. The run fails when the program ends with any
  /// other error than its interruption, or the sequel with an error. Suspends; called in a
  /// coroutine. Throws UsageError outside of one, and in a program that is swept.
  SweepCounts sweep_cancellation(const std::function<void()>& program,
                                 const SweepSequel& sequel = {});
  /// Sweeps with a check, but without a second user.
  template <std::invocable Check>
  SweepCounts sweep_cancellation(const std::function<void()>& program, Check check) {
    return sweep_cancellation(program, SweepSequel{.check = std::move(check)});
  }

  /// Promises, from now on in this run, that coroutines announce whatever they share, with
  /// touches() or reads() in each step that uses it. Objects of Fermata need no announcement: their
  /// uses are known. The strategy `dfs` skips schedules that this makes superfluous; see
  /// docs/guide/strategies.md.
  void sharing_is_announced() noexcept;

  /// Runs the world to its end, or to the first failure; then what is left of the programs is
  /// unwound, without any effect outside. Never throws what a program threw: see failure(). Called
  /// in a program it suspends until the programs of all other nodes have ended, services apart.
  void run(SourcePlace place = SourcePlace::current());

  /// Records a failure; the first one counts. Called in a program's code it ends the run when the
  /// present step ends.
  void fail(Verdict verdict, std::string message, std::string message_lines = {});
  void fail(Failure failure);

  /// Ends the run when the present step ends, and leaves it unjudged: it has not failed, and
  /// nothing of it counts that comes later. Of several calls the first one counts; after a failure
  /// it has no effect. GTEST_SKIP in a simulated test calls it. Throws UsageError when the world
  /// does not run.
  void skip(std::string reason);

  /// Prepares for another run, with the same options or others. Nodes and actions are removed.
  void reset();
  void reset(const WorldOptions& options);

  // --- the run in progress, or the last one ---

  [[nodiscard]] const std::optional<Failure>& failure() const noexcept;
  /// Why the run was skipped; null when it was not.
  [[nodiscard]] const std::optional<std::string>& skipped() const noexcept;
  [[nodiscard]] Instant now() const noexcept;
  /// The number of finished steps.
  [[nodiscard]] std::uint64_t steps() const noexcept;
  /// A hash of everything that happened, equal with every compiler and on every machine.
  [[nodiscard]] std::uint64_t trace_hash() const noexcept;
  [[nodiscard]] const FaultCounts& fault_counts() const noexcept;
  /// The faults that this run has, a line each, with how often each has struck.
  [[nodiscard]] std::string faults() const;
  /// The log of the runtimes, one line each, with virtual time, node and coroutine.
  [[nodiscard]] const std::vector<std::string>& log() const noexcept;

 private:
  friend class detail::WorldAccess;

  Node& add_node(std::string_view name, std::function<void()>&& main, bool is_service);

  std::unique_ptr<detail::WorldState> state_;
  std::deque<Node> nodes_;  // By their numbers; of earlier runs too.
};

/// Announces that the present step changes, or reads, what coroutines share under this name: a
/// variable, for example. Only strategies use it. Throws UsageError outside of simulation.
void touches(std::string_view name);
void reads(std::string_view name);

/// Begins another process on the machine whose program calls this, for foreign code that `main`
/// calls: with descriptors, threads, signals, memory and variables of libraries of its own. It ends
/// when `main` returns, at the latest with the program. Throws UsageError outside of simulation,
/// and in a program that does not link fermata::posix.
void begin_process(std::string_view name, std::function<void()> main);

/// Makes the calling step take `cost` of virtual time. Throws UsageError outside of simulation, or
/// when `cost` is negative.
void consume(Duration cost);

}  // namespace fermata::sim
