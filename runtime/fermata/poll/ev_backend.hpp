// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "fermata/poll/backend.hpp"

namespace fermata::poll::detail {

/// libev, on a loop of its own. Throws InputOutputError.
[[nodiscard]] std::unique_ptr<Backend> make_ev_backend();

}  // namespace fermata::poll::detail
