// SPDX-License-Identifier: Apache-2.0
#pragma once

// A backend on a fake kernel, held to its contract:
//
// Told      Nobody who is not watched; nothing of what the kernel found before it was watched.
// Asked     The kernel for no less than what is watched for.
// In the end  All that is ready is told, once the kernel is calm.
// Time      A wait ends in time, and nothing that belongs to nobody keeps it from waiting.

#include <string>

#include "fermata/poll/backends.hpp"
#include "properties/kernel/backend_script.hpp"

namespace fermata::properties {

struct PlayedBackend {
  poll::BackendKind kind;
  bool nanoseconds = true;  // Whether the kernel can wait for them; else for milliseconds.
};

/// What is wrong; empty for nothing.
[[nodiscard]] std::string play(const PlayedBackend& played, const BackendScript& script);

}  // namespace fermata::properties
