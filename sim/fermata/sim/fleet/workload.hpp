// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "fermata/base/function_ref.hpp"
#include "fermata/sim/fleet/chunk_id.hpp"

namespace fermata::sim::fleet {

/// The chunks of a plan, and how one is done.
class Workload {
 public:
  virtual ~Workload() = default;

  [[nodiscard]] virtual std::size_t size() const = 0;
  /// The identity of a chunk; `index` is below size().
  [[nodiscard]] virtual ChunkId at(std::size_t index) const = 0;

  /// Called when all chunks have a result: adds those that follow from them. Returns whether there
  /// are any. May suspend.
  virtual bool grow() { return false; }

  /// Only the first `count` chunks count from now on; it is not called after grow() has added any.
  virtual void close(std::size_t count) { static_cast<void>(count); }

  /// Does the chunk and returns its result, the same bytes whoever does it; nothing when this
  /// worker was told to end. What it leaves besides is durable when it returns. May suspend, and
  /// calls `go_on` at least every second; that suspends.
  virtual std::optional<std::string> run(std::size_t index,
                                         fermata::detail::FunctionRef<void()> go_on) = 0;
};

}  // namespace fermata::sim::fleet
