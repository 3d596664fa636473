// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "fermata/runtime/core/reactor.hpp"

namespace fermata::uv {

/// A reactor on a libuv loop of its own: real time, sockets, signals and threads. Throws
/// InputOutputError when the system has no descriptors or memory left for it.
[[nodiscard]] std::unique_ptr<Reactor> make_reactor();

}  // namespace fermata::uv
