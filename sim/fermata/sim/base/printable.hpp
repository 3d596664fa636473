// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bytes of a message or a file, as reports show them.

#include <cstddef>
#include <span>
#include <string>

namespace fermata::sim {

/// The bytes with '.' for each that is not printable ASCII: "PUT a=1". Of more than `most` the
/// first and the last ones, with "..." between; at the end when `bytes` are only the first of
/// `size`.
[[nodiscard]] std::string printable(std::span<const std::byte> bytes, std::size_t size,
                                    std::size_t most);

}  // namespace fermata::sim
