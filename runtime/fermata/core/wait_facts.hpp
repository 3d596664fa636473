// SPDX-License-Identifier: Apache-2.0
#pragma once

// Two narrow seams for somebody who explains why nothing goes on. Both are cold: an object is asked
// only when a run has failed or is looked through, and a log exists only where one is wanted.
//
// WaitFacts   What an event says when it is asked why it has not fired: Event::explain_wait().
// WaitLog     What is done to primitives that leaves no trace in them: who took a permit, who
//             notified whom. Null unless somebody keeps one; each call is behind one test.

#include <cstdint>
#include <string>
#include <string_view>

#include "fermata/base/source_place.hpp"

namespace fermata {
class CoroutineBase;
class Event;
class Runtime;
}  // namespace fermata

namespace fermata::backend {

/// Somebody, as those know him who share something with him from another runtime. Noted only where
/// a log of waits is kept.
struct WaitPerson {
  const Runtime* runtime = nullptr;  // Null: nobody was noted. It may have gone.
  std::uint64_t coroutine = 0;       // Its id.
  std::string label;

  /// The current coroutine as a person of the wait log; nobody when its runtime keeps no log.
  [[nodiscard]] static WaitPerson present();
};

/// An event tells its part, in any order; what it does not know it leaves out.
class WaitFacts {
 public:
  /// Its kind ("mutex"), its name, which may be empty, and where the program created it; null when
  /// that is not known.
  virtual void is(const char* kind, std::string_view name, const SourcePlace* made) = 0;
  /// How it is now: "full, 1 of 1", "2 of 3 parties arrived".
  virtual void state(std::string text) = 0;
  /// What the waiting coroutine wants of it: "send", "2 permits".
  virtual void wanted(std::string_view what) = 0;
  /// Nobody but the coroutine with this id, which may have ended, can let go of it; `since` is
  /// where it took it, null when that is not known.
  virtual void held_by(std::uint64_t coroutine, const SourcePlace* since) = 0;
  /// It does not fire before `part` has.
  virtual void needs(const Event& part) = 0;
  /// It fires when `part` has, or any other part that this is called for.
  virtual void accepts(const Event& part) = 0;
  /// It fires when somebody acts at `far_end`, whose other end is `near_end`.
  virtual void across(const Event& near_end, const Event& far_end) = 0;
  /// Nobody is left who could ever make it fire; `why` is "every promise was dropped".
  virtual void abandoned(const char* why) = 0;
  /// It would have fired by itself, but was stopped.
  virtual void stopped() = 0;
  /// It stands for `shared`, which is not an event. Other events, also of other runtimes, may stand
  /// for the same object: all of them are one.
  virtual void stands_for(const void* shared) = 0;
  /// A person who could make it fire, or has done so before; `how` is "sent to by".
  virtual void in_hands_of(const WaitPerson& person, const char* how) = 0;
  /// It fires when the run of `run` has ended; that runtime may be gone already.
  virtual void ends_with(const Runtime* run) = 0;
  /// Any user of `stream` could make it fire; `how` is "its input is with".
  virtual void through(const Event& stream, const char* how) = 0;
  /// Something outside of the program makes it fire: `whom` is "the disk".
  virtual void outside(std::string_view whom) = 0;

 protected:
  ~WaitFacts() = default;
};

/// An object that several events stand for; it explains their waits in their place.
class WaitSubject {
 public:
  virtual void explain_wait(WaitFacts& facts) const = 0;

 protected:
  ~WaitSubject() = default;
};

enum class WaitAct : std::uint8_t {
  Took,       // permits or a lease; detail: how many
  Gave,       // the same
  Discarded,  // a lease whose resource is broken; detail: 1
  Notified,   // waiters were to be woken; detail: the id of the first who is, 0 for nobody
  Sent,       // a value, or tried to
  Received,   // the same
  Arrived,    // at a barrier
  Dropped,    // the last one who could have completed it
  Refused,    // tried in vain, without a wait or after one; detail: the id of who had it, or 0
  Used,       // an end of a connection
};

/// A resource of a pool, for people.
struct PoolResource {
  const Event& pool;
  std::string_view pool_name;  // Empty: the pool has none.
  std::uint64_t number = 0;    // From 1 on, in the order in which the pool made them.
};

class WaitLog {
 public:
  /// The current coroutine did this to `object`; `place` is null when that is not known. Must not
  /// suspend, throws nothing.
  virtual void note(WaitAct act, const Event& object, const SourcePlace* place,
                    std::uint64_t detail) = 0;
  /// The current coroutine Took, Gave or Discarded a resource; as note() otherwise.
  virtual void note_lease(WaitAct act, const PoolResource& resource, const SourcePlace* place) = 0;

 protected:
  ~WaitLog() = default;
};

}  // namespace fermata::backend
