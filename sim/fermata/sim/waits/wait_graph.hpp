// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who waits for what, and in whose hands that is: a picture of one moment, of one runtime or of all
// runtimes of a world. It holds words and indices only and outlives what it was made of.
//
// Nodes   Coroutines that have not ended, and the objects that they wait for. Both ends of a
//         connection are objects, so that the picture goes from machine to machine.
// Edges   A coroutine waits for objects. An object is in the hands of coroutines: who holds it,
//         who must end, who has dealt with it before and so could do it again. An object may have
//         parts, which must fire first: the items of a joint wait, the members of a scope.
// Order   That of ids and of subscriptions; never of addresses.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fermata/base/time.hpp"

namespace fermata {
class Runtime;
}

namespace fermata::sim::detail {

class BoundedWaitLog;

/// One runtime to look at; its history may be null.
struct WaitSource {
  const Runtime* runtime = nullptr;
  const BoundedWaitLog* history = nullptr;
  bool paused = false;  // Its machine is.
};

struct WaitGraph {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// An action of a coroutine on an object, or its last one.
  struct Deed {
    std::string who;  // "nobody" when it was not a coroutine.
    std::string did;
    std::string place;  // "file:line", "the step after file:line"; may be empty.
    std::string woke;   // Who was woken by it; empty for nobody.
    Instant at;
    std::uint64_t step = 0;
  };

  /// How much is known about an edge.
  enum class Certainty : std::uint8_t {
    Known,     // the object itself says so
    Likely,    // it has dealt with the object before
    Possible,  // nobody else is left who could
  };

  struct Hold {
    std::size_t by = kNone;  // A coroutine.
    Certainty certainty = Certainty::Known;
    std::string how;    // "held by", "receives"
    std::string since;  // "file:line"; may be empty.
  };

  /// Somebody who had it in his hands and has ended.
  struct Former {
    std::string who;
    std::string how;
    std::string since;
    std::optional<Deed> end;
  };

  struct Object {
    std::string kind;   // "mutex"
    std::string name;   // May be empty.
    std::string made;   // "file:line"; may be empty.
    std::string state;  // May be empty.
    std::string info;   // What the object calls itself.
    std::vector<Hold> holds;
    std::vector<Former> former;
    std::vector<std::size_t> parts;  // Objects; each must fire, or with `any_part` one of them.
    std::optional<Deed> woken;       // Who notified, fired or released it last.
    std::optional<Deed> ended;       // Who stopped, closed or dropped it.
    std::string outside;    // Who makes it fire, when that is not the program; may be empty.
    std::string abandoned;  // Why nobody can fire it any more; empty when somebody can.
    bool any_part = false;
    bool stopped = false;             // A timer that will not fire.
    bool holder_ended = false;        // Whoever holds it, and says so itself, has ended.
    bool only_waiters_refer = false;  // Nobody else has a reference to it.
    bool has_far_end = false;         // A connection whose other end is in this world.
    bool passive = false;             // Only code of the program can make it fire.

    /// "mutex 'm'", "event #12".
    [[nodiscard]] std::string title() const;
    std::uint64_t serial = 0;
  };

  struct Wait {
    std::size_t object = kNone;
    std::string wants;       // "send"; may be empty.
    bool only_ends = false;  // A timeout or a token: the wait fails by it.
  };

  enum class State : std::uint8_t { Ready, Running, Waiting };

  /// Somebody who tries to take something and is refused, again and again.
  struct Refusals {
    std::size_t object = kNone;
    std::uint64_t times = 0;
    std::vector<std::string> overtaken_by;
  };

  struct Coroutine {
    std::uint64_t id = 0;
    std::string label;  // With its node in front when there are several.
    std::string name;   // The same; a second one of the same label is "worker #2" when logged.
    std::size_t node = 0;
    std::string spawned;    // "file:line"
    std::string suspended;  // "file:line"; empty when it is not.
    std::string info;       // For people.
    State state = State::Ready;
    bool main = false;
    bool zombie = false;
    bool sleeps = false;            // Something that will come by itself ends its wait.
    std::uint64_t ready_since = 0;  // The step; 0 when not known.
    std::vector<Wait> waits;
    std::vector<Refusals> refusals;
  };

  struct Node {
    std::string name;
    bool paused = false;
  };

  std::vector<Node> nodes;
  std::vector<Coroutine> coroutines;  // By node, then by id.
  std::vector<Object> objects;
  std::uint64_t steps = 0;  // Of the run.
  bool logged = false;      // There was a history.
};

[[nodiscard]] const char* to_string(WaitGraph::State state) noexcept;

/// `quiet`: nothing will come by itself any more, whatever looks as if it could; `steps` are those
/// of the run so far.
[[nodiscard]] WaitGraph make_wait_graph(std::span<const WaitSource> sources, bool quiet,
                                        std::uint64_t steps);

}  // namespace fermata::sim::detail
