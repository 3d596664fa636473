// SPDX-License-Identifier: Apache-2.0
#pragma once

// Programs of a few coroutines, each over one primitive, which are interrupted wherever they wait.
// Somebody else uses the same object afterwards, and must find nothing missing that the interrupted
// one has lost or still holds. Each is the body of a simulated test.

#include <array>
#include <chrono>
#include <functional>
#include <string_view>

#include "fermata/runtime.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::properties::sweeps {

struct Program {
  std::string_view name;
  void (*body)(sim::World& world);
};

// Locks.
void mutex(sim::World& world);
void file_lock(sim::World& world);
void semaphore(sim::World& world);
void condition(sim::World& world);
void barrier(sim::World& world);
void once(sim::World& world);

// What is handed over.
void rendezvous(sim::World& world);
void buffered_channel(sim::World& world);
void stream(sim::World& world);
void readiness(sim::World& world);

// What is told.
void future(sim::World& world);
void awaited_items(sim::World& world);
void trigger(sim::World& world);
void token(sim::World& world);
void deadline(sim::World& world);

// Who works for somebody else.
void scope(sim::World& world);
void task_group(sim::World& world);
void task_set(sim::World& world);
void iteration(sim::World& world);

// What is lent.
void pool(sim::World& world);
void database_session(sim::World& world);

void event_loop(sim::World& world);

// Code that waits in many places.
void tasks(sim::World& world);
void limits(sim::World& world);

inline constexpr auto kPrograms = std::to_array<Program>({
    {"mutex", &mutex},
    {"file lock", &file_lock},
    {"semaphore", &semaphore},
    {"condition", &condition},
    {"barrier", &barrier},
    {"once", &once},
    {"rendezvous", &rendezvous},
    {"buffered channel", &buffered_channel},
    {"stream", &stream},
    {"readiness", &readiness},
    {"future", &future},
    {"awaited items", &awaited_items},
    {"trigger", &trigger},
    {"token", &token},
    {"deadline", &deadline},
    {"scope", &scope},
    {"task group", &task_group},
    {"task set", &task_set},
    {"iteration", &iteration},
    {"pool", &pool},
    {"database session", &database_session},
    {"event loop", &event_loop},
    {"tasks", &tasks},
    {"limits", &limits},
});

/// Longer than anything takes here, so that a wait that ends by it has waited in vain.
inline constexpr WaitOptions kPatient{.timeout = std::chrono::seconds(30)};

/// A sequel that fails, with the invariant `rule`, when one of its waits times out.
template <class Use>
std::function<void()> finds_all(sim::World& world, std::string_view rule, Use use) {
  return [&world, rule, use] {
    try {
      use();
    } catch (const Timeout&) {
      world.fail(sim::Verdict::Safety,
                 std::string(rule) + " (WAKE): who comes next waits in vain for what was lost");
    }
  };
}

/// Counts who is inside.
class Inside {
 public:
  explicit Inside(int& count) : count_(count) { ++count_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { --count_; }

 private:
  int& count_;
};

}  // namespace fermata::properties::sweeps
