// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/backends.hpp"

#include "fermata/base/error.hpp"
#include "fermata/poll/epoll_backend.hpp"
#include "fermata/poll/ev_backend.hpp"
#include "fermata/poll/event_backend.hpp"
#include "fermata/poll/ppoll_backend.hpp"
#include "fermata/poll/pselect_backend.hpp"

namespace fermata::poll {

namespace {

constexpr BackendKind kAvailable[] = {
#ifdef FERMATA_WITH_LIBEV
    BackendKind::Ev,
#endif
#ifdef FERMATA_WITH_LIBEVENT
    BackendKind::Event,
#endif
    BackendKind::Ppoll, BackendKind::Pselect, BackendKind::Epoll,
};

}  // namespace

std::string_view to_string(BackendKind kind) noexcept {
  constexpr std::string_view kNames[] = {"ev", "event", "ppoll", "pselect", "epoll"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::span<const BackendKind> available_backends() noexcept { return kAvailable; }

std::unique_ptr<Backend> make_backend(BackendKind kind) {
  switch (kind) {
#ifdef FERMATA_WITH_LIBEV
    case BackendKind::Ev:
      return detail::make_ev_backend();
#endif
#ifdef FERMATA_WITH_LIBEVENT
    case BackendKind::Event:
      return detail::make_event_backend();
#endif
    case BackendKind::Ppoll:
      return std::make_unique<PpollBackend>();
    case BackendKind::Pselect:
      return std::make_unique<PselectBackend>();
    case BackendKind::Epoll:
      return std::make_unique<EpollBackend>();
    default:
      throw Unsupported(kind == BackendKind::Ev ? "libev" : "libevent", to_string(kind));
  }
}

}  // namespace fermata::poll
