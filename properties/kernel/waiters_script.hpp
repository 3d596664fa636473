// SPDX-License-Identifier: Apache-2.0
#pragma once

// Coroutines that wait for descriptors which become ready, or are closed behind the runtime's back,
// and for which they have no patience.

#include <rapidcheck.h>

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "fermata/reactor/poll.hpp"

namespace fermata::properties {

/// Times are units after the script begins.
struct Waiting {
  std::uint8_t file = 0;
  PollMask mask = PollMask::Readable;
  int begin = 0;
  int patience = 0;
};
std::ostream& operator<<(std::ostream& out, const Waiting& waiting);

struct FileEvent {
  std::uint8_t file = 0;
  PollMask mask = PollMask::Readable;  // None: it is closed, and another file gets its number.
  int at = 0;
};
std::ostream& operator<<(std::ostream& out, const FileEvent& event);

struct WaitersScript {
  std::vector<Waiting> waiters;
  std::vector<FileEvent> events;
  std::vector<std::uint8_t> answers;
};
std::ostream& operator<<(std::ostream& out, const WaitersScript& script);

[[nodiscard]] rc::Gen<WaitersScript> waiters_scripts();

}  // namespace fermata::properties
