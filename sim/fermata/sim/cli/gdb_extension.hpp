// SPDX-License-Identifier: Apache-2.0
#pragma once

// gdb's extensions as the tool has them in itself, so that they are always there and always fit.

#include <string_view>

namespace fermata::sim::cli {

/// runtime/gdb/fermata.py.
[[nodiscard]] std::string_view gdb_extension() noexcept;
/// sim/gdb/fermata_replay.py.
[[nodiscard]] std::string_view gdb_replay_extension() noexcept;

}  // namespace fermata::sim::cli
