// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

namespace fermata::posix {

/// What io_setup() and its relatives answer, a negative errno for an error; nullopt when `number`
/// is that of another call, or when the files of a call from there are the C library's.
[[nodiscard]] std::optional<long> serve_queue_call(long number, const std::array<long, 6>& given,
                                                   const void* from);

}  // namespace fermata::posix
