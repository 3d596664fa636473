// SPDX-License-Identifier: Apache-2.0
#pragma once

// Coroutines that can never go on while others can: a partial deadlock.
//
// Sure       A coroutine is stuck when each of its waits is for the end of one that is stuck, for
//            a mutex or a once in the hands of one that is stuck or has ended, or for something
//            that nobody but its waiters refers to; when no timeout or token ends its wait; and
//            when it has no handle, and is in no scope, through which somebody could cancel it.
//            What anybody might do is never held against the program: permits, notifies, values.
// How        The greatest set that holds itself up: all candidates, less those who can be reached,
//            until nothing changes.
// Cost       One pass over the coroutines where nobody is a candidate, which is nearly always.

#include <string>
#include <vector>

namespace fermata {
class CoroutineBase;
class Runtime;
}  // namespace fermata

namespace fermata::sim::detail {

class StuckSearch {
 public:
  /// Stuck coroutines, by id, valid until the runtime goes on.
  [[nodiscard]] const std::vector<const CoroutineBase*>& search(const Runtime& runtime);

 private:
  class Facts;

  [[nodiscard]] bool is_candidate(const CoroutineBase& coroutine) const;
  [[nodiscard]] bool is_held_up(const CoroutineBase& coroutine);
  [[nodiscard]] bool has(const CoroutineBase& coroutine) const noexcept;

  std::vector<const CoroutineBase*> stuck_;  // Kept, so that a search allocates nothing.
};

/// "'a', 'b'"
[[nodiscard]] std::string labels_of(const std::vector<const CoroutineBase*>& coroutines);

}  // namespace fermata::sim::detail
