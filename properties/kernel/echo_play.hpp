// SPDX-License-Identifier: Apache-2.0
#pragma once

// An echo server on a fake kernel that reads and writes short, answers EAGAIN after readiness and
// EINTR at any time, and has trouble with accepting: every peer is served, each gets its bytes, no
// error is seen, and it costs few waits.

#include <string>

#include "properties/kernel/backend_play.hpp"
#include "properties/kernel/echo_script.hpp"

namespace fermata::properties {

/// What is wrong; empty for nothing.
[[nodiscard]] std::string play(const PlayedBackend& played, const EchoScript& script);

}  // namespace fermata::properties
