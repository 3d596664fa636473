// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is done with a backend and with the descriptors that it watches, in turns and between them.

#include <rapidcheck.h>

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "fermata/reactor/poll.hpp"

namespace fermata::properties {

enum class BackendVerb : std::uint8_t {
  Open,
  Duplicate,
  Watch,
  Unwatch,
  End,      // unwatch and close
  Replace,  // the same, then another file with that number, which is watched
  Close,    // behind the backend's back
  Abandon,  // the same, while a duplicate lives, and unwatch it then
  Ready,    // for a mask, perhaps for nothing
  Wait,
};

struct BackendAct {
  BackendVerb verb = BackendVerb::Wait;
  std::uint8_t which = 0;  // The index of an open number; for a wait, milliseconds.
  PollMask mask = PollMask::None;
};
std::ostream& operator<<(std::ostream& out, const BackendAct& act);

struct BackendScript {
  std::vector<BackendAct> acts;
  std::vector<BackendAct> inside;  // One in each call of the sink, while there are any.
  std::vector<std::uint8_t> answers;
};
std::ostream& operator<<(std::ostream& out, const BackendScript& script);

[[nodiscard]] rc::Gen<BackendScript> backend_scripts();

}  // namespace fermata::properties
