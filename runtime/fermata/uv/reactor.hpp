// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "fermata/core/reactor.hpp"

struct uv_loop_s;

namespace fermata::uv {

struct ReactorOptions {
  /// Tells what happens in other orders than the system does, all of them legal, drawn from this
  /// seed: for tests of programs. Where completions of independent operations, readiness of
  /// different sockets and timers have no order, they come in any, and some of them late; never
  /// early, and never what depends on each other. The system still has its own share in what comes
  /// when: no run repeats another.
  std::optional<std::uint64_t> reorder;
};

/// A reactor on a libuv loop of its own: real time, sockets, signals and threads. Throws
/// InputOutputError when the system has no descriptors or memory left for it.
[[nodiscard]] std::unique_ptr<backend::Reactor> make_reactor(const ReactorOptions& options = {});

/// The uv_loop_t of a reactor that make_reactor() has made; null for any other.
[[nodiscard]] uv_loop_s* native_loop(backend::Reactor& reactor) noexcept;

}  // namespace fermata::uv
