// SPDX-License-Identifier: Apache-2.0
#pragma once

// Places in a program where something may go wrong that the simulator cannot know of.

#include <string_view>

#include "fermata/core/runtime.hpp"

namespace fermata::detail {

[[nodiscard]] inline bool fault_point(std::string_view name) {
  const Runtime* runtime = current_runtime_pointer;
  if (runtime == nullptr || runtime->kernel().chooser == nullptr) [[likely]]
    return false;
  return runtime->kernel().chooser->fault_point(name);
}

}  // namespace fermata::detail

/// Whether the fault called `name` strikes here, now. In simulation each run draws which names it
/// has and how often each strikes, as part of the fault `point`; in production the answer is no,
/// for the price of a null pointer test.
///
///   if (FERMATA_FAULT("journal.torn")) bytes = bytes.first(bytes.size() / 2);
#define FERMATA_FAULT(name) (::fermata::detail::fault_point(name))
