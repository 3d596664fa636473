// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "fermata/poll/backend.hpp"

namespace fermata::poll::detail {

/// libevent, on a base of its own. Throws InputOutputError.
[[nodiscard]] std::unique_ptr<Backend> make_event_backend();

}  // namespace fermata::poll::detail
