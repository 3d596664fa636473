// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who did what to what can be waited for, for as long as that lives: a deadlock is explained with
// the wake-up that came too early, or with who took what and never gave it back.
//
// Kept only in runs that are recorded. Bounded by the objects that live and the coroutines
// that have a name or ever did something: of each it knows the last deed and sums, no log.
// Coroutines of one name are told apart by the order in which they were spawned.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/source_place.hpp"
#include "fermata/base/time.hpp"
#include "fermata/core/observer.hpp"
#include "fermata/core/wait_facts.hpp"

namespace fermata {
class CoroutineBase;
class Runtime;
}  // namespace fermata

namespace fermata::sim {
class RunLog;
}  // namespace fermata::sim

namespace fermata::sim::detail {

class BoundedWaitLog final : public backend::WaitLog {
 public:
  /// One action on an object: who did what, where and when.
  struct Deed {
    const char* did = "";   // "notified", "fired", "released"
    std::uint64_t who = 0;  // Id of the coroutine; 0 when there was none.
    SourcePlace place;      // Line 0 when not even the step is known.
    bool exact = false;     // Else the deed was in the step that began at `place`.
    Instant at;
    std::uint64_t step = 0;
    std::uint64_t woke = 0;  // Id of the first coroutine that it woke; 0 for nobody.
  };

  /// The actions of one coroutine on one object.
  struct Dealings {
    std::int64_t balance = 0;  // Taken and not given back.
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t arrived = 0;
    std::uint64_t used = 0;
    std::uint64_t refused = 0;                // Since it last got what it tried to take.
    std::vector<std::uint64_t> overtaken_by;  // Ids of who had it then; few.
    Deed last;
  };

  struct Object {
    std::map<std::uint64_t, Dealings> by;  // By id of the coroutine.
    std::optional<Deed> woken;             // The last notify, fire or release.
    std::optional<Deed> ended;             // The last stop, close or drop.
    bool fired = false;                    // A trigger, that has not told of it yet.
  };

  struct Person {
    std::string label;
    std::optional<Deed> end;  // `did` says how.
  };

  /// Forgets everything. `steps` counts those of the run; it must outlive this, and so must
  /// `run_log`, which is told of leases unless it is null.
  void begin(const Runtime& runtime, const std::uint64_t& steps, RunLog* run_log);

  void note(backend::WaitAct act, const Event& object, const SourcePlace* place,
            std::uint64_t detail) override;
  void note_lease(backend::WaitAct act, const backend::PoolResource& resource,
                  const SourcePlace* place) override;
  /// Notes an event for an observer: fires, stops and ends of events, and steps of coroutines.
  void note(backend::Trace kind, const Event& subject, std::uint64_t detail);

  /// Null when nobody has ever done anything to it.
  [[nodiscard]] const Object* find(const Event& object) const;
  /// Null when that coroutine has never done anything.
  [[nodiscard]] const Person* find(std::uint64_t coroutine) const;
  /// Its label, also when it has ended; that of the second one called so is "worker #2".
  [[nodiscard]] std::string label(std::uint64_t coroutine) const;
  /// " #2", of the second one with its label; empty for the first.
  [[nodiscard]] std::string number(std::uint64_t coroutine) const;
  /// The step in which it became ready and has not run since; 0 when it is not ready.
  [[nodiscard]] std::uint64_t ready_since(const CoroutineBase& coroutine) const;

 private:
  [[nodiscard]] Deed deed(const char* did, const SourcePlace* place);
  [[nodiscard]] Deed present(const char* did) const;
  void remember(const CoroutineBase& coroutine);
  void note_fire(const Event& event);
  void note_spawn(const CoroutineBase& coroutine);

  const Runtime* runtime_ = nullptr;
  const std::uint64_t* steps_ = nullptr;
  RunLog* run_log_ = nullptr;
  std::map<std::uint64_t, Object> objects_;          // By serial.
  std::map<std::uint64_t, Person> people_;           // By id.
  std::map<std::uint64_t, SourcePlace> resumed_at_;  // By id: where the present step began.
  std::map<std::uint64_t, std::uint64_t> ready_since_;
  std::map<std::string, std::uint64_t, std::less<>> namesakes_;  // How many had a name.
  std::map<std::uint64_t, std::uint64_t> numbers_;               // By id: of those not the first.
};

}  // namespace fermata::sim::detail
