// SPDX-License-Identifier: Apache-2.0
#pragma once

// The backends that this library brings.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "fermata/poll/backend.hpp"

namespace fermata::poll {

enum class BackendKind : std::uint8_t {
  Ev,       // libev
  Event,    // libevent
  Ppoll,    // ppoll(2)
  Pselect,  // pselect(2): descriptors below FD_SETSIZE only
  Epoll,    // epoll(7)
};

/// "ev", "event", "ppoll", "pselect", "epoll"; Backend::name() is the same.
[[nodiscard]] std::string_view to_string(BackendKind kind) noexcept;

/// The backends that this library was built with; ev and event need their libraries.
[[nodiscard]] std::span<const BackendKind> available_backends() noexcept;

/// Throws Unsupported when it was built without, InputOutputError when the system has no
/// descriptors or memory left for it.
[[nodiscard]] std::unique_ptr<Backend> make_backend(BackendKind kind);

}  // namespace fermata::poll
