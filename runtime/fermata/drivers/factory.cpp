// SPDX-License-Identifier: Apache-2.0
#include "fermata/drivers/factory.hpp"

#include <fmt/format.h>
#include <sys/select.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/poll/backends.hpp"
#include "fermata/poll/reactor.hpp"
#ifdef FERMATA_HAS_UV
#include "fermata/uv/reactor.hpp"
#endif

namespace fermata::loop {
namespace {

constexpr const char* kVariable = "FERMATA_LOOP";

/// How a driver is made from a backend.
template <poll::BackendKind kind>
Driver on_backend(std::string_view name, std::string_view library) {
  return {.name = name,
          .library = library,
          .make = [] { return poll::make_reactor(poll::make_backend(kind)); },
          .native_handle = poll::native_handle};
}

std::vector<Driver> find_drivers() {
  using poll::BackendKind;
  std::vector<Driver> found;
#ifdef FERMATA_HAS_UV
  found.push_back({.name = "uv",
                   .library = "libuv",
                   .capabilities = {.every_part = true},
                   .make = [] { return uv::make_reactor(); },
                   .native_handle = [](backend::Reactor& reactor) noexcept -> void* {
                     return uv::native_loop(reactor);
                   }});
#endif
  const auto add = [&](BackendKind kind, Driver driver) {
    const auto kinds = poll::available_backends();
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) found.push_back(driver);
  };
  add(BackendKind::Ev, on_backend<BackendKind::Ev>("ev", "libev"));
  add(BackendKind::Event, on_backend<BackendKind::Event>("event", "libevent"));
  add(BackendKind::Ppoll, on_backend<BackendKind::Ppoll>("select", "ppoll(2)"));
  Driver pselect = on_backend<BackendKind::Pselect>("pselect", "pselect(2)");
  pselect.capabilities.descriptor_limit = FD_SETSIZE;
  pselect.on_request_only = true;
  add(BackendKind::Pselect, pselect);
  Driver epoll = on_backend<BackendKind::Epoll>("epoll", "epoll(7)");
  epoll.on_request_only = true;
  add(BackendKind::Epoll, epoll);
  return found;
}

const Driver* find(std::span<const Driver> built, std::string_view name) noexcept {
  const auto found = std::find_if(built.begin(), built.end(),
                                  [&](const Driver& driver) { return driver.name == name; });
  return found == built.end() ? nullptr : &*found;
}

std::string choices(std::span<const Driver> built) {
  std::string out;
  for (const Driver& driver : built) {
    out += out.empty() ? "" : ", ";
    out += driver.name;
  }
  return out;
}

const Driver& require(std::span<const Driver> built, std::string_view name,
                      std::string_view source) {
  if (const Driver* found = find(built, name)) return *found;
  throw UsageError(fmt::format(
      "{}'{}' is not a driver of this build; expected one of {}{}", source, name, choices(built),
      name == "simulated" ? "; simulated programs run in a sim::World" : ""));
}

}  // namespace

std::span<const Driver> drivers() noexcept {
  static const auto* const found = new std::vector<Driver>(find_drivers());
  return *found;
}

bool supports(std::string_view name) noexcept { return find(drivers(), name) != nullptr; }

const Driver& driver(std::string_view name) { return require(drivers(), name, ""); }

const Driver& choose_driver() { return detail::choose(drivers(), std::getenv(kVariable)); }

const Driver& detail::choose(std::span<const Driver> built, const char* wanted) {
  if (wanted != nullptr && *wanted != '\0') {
    return require(built, wanted, fmt::format("{}: ", kVariable));
  }
  const auto preferred = std::find_if(built.begin(), built.end(),
                                      [](const Driver& each) { return !each.on_request_only; });
  if (preferred == built.end()) {
    throw UsageError(fmt::format("no driver of this build is taken unless {} names it; it has {}",
                                 kVariable, choices(built)));
  }
  return *preferred;
}

}  // namespace fermata::loop
