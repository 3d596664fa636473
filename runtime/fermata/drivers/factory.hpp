// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which library waits for a program: what this build has, and which of it is taken when the program
// does not care.
//
// Order     uv, ev, event, select: the first that was built in. FERMATA_LOOP names another one.
// Explicit  epoll and pselect are taken only when somebody names them. The simulated driver is none
//           of these: it is a world, made by whoever wants one (fermata/sim/world/world.hpp).

#include <memory>
#include <span>
#include <string_view>

#include "fermata/core/reactor.hpp"

namespace fermata::loop {

struct DriverCapabilities {
  /// Whether files, names, datagrams, processes and threads work too. If not, those throw
  /// Unsupported; the clock, timers, descriptors, signals, triggers, offload and TCP work with all.
  bool every_part = false;
  /// Numbers of descriptors from here on cannot be watched; 0: the system's limit is the only one.
  int descriptor_limit = 0;
};

struct Driver {
  /// "uv", "ev", "event", "select", "pselect", "epoll".
  std::string_view name;
  /// The library or call that it is based on: "libuv", "ppoll(2)".
  std::string_view library;
  DriverCapabilities capabilities;
  /// Never taken unless it is named.
  bool on_request_only = false;
  /// Throws InputOutputError when the system has no descriptors or memory left.
  std::unique_ptr<backend::Reactor> (*make)() = nullptr;
  /// The library's loop in a reactor that `make` has made: a uv_loop_t*, ev_loop* or event_base*.
  /// Null for a driver that stands on none, and for any other reactor.
  void* (*native_handle)(backend::Reactor& reactor) noexcept = nullptr;
};

/// The drivers that this library was built with, in order of preference.
[[nodiscard]] std::span<const Driver> drivers() noexcept;
[[nodiscard]] bool supports(std::string_view name) noexcept;

/// Throws UsageError, which lists the choices, when this build has no driver of that name.
[[nodiscard]] const Driver& driver(std::string_view name);

/// The one that the environment variable FERMATA_LOOP names, as driver() has it; the preferred one
/// when it is not set, or empty.
[[nodiscard]] const Driver& choose_driver();

/// The reactor of the chosen driver, or of the named one.
[[nodiscard]] inline std::unique_ptr<backend::Reactor> make_reactor() {
  return choose_driver().make();
}
[[nodiscard]] inline std::unique_ptr<backend::Reactor> make_reactor(std::string_view name) {
  return driver(name).make();
}

namespace detail {
/// Chooses a driver among `built` as choose_driver() does; `wanted` may be null.
[[nodiscard]] const Driver& choose(std::span<const Driver> built, const char* wanted);
}  // namespace detail

}  // namespace fermata::loop
