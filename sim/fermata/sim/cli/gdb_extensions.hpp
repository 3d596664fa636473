// SPDX-License-Identifier: Apache-2.0
#pragma once

// gdb's extensions as the tool has them in itself, so that they are always there and always fit.

#include <string_view>

namespace fermata::sim::cli {

/// runtime/gdb/fermata.py.
[[nodiscard]] std::string_view fermata_py() noexcept;
/// sim/gdb/fermata_replay.py; needs the one above.
[[nodiscard]] std::string_view fermata_replay_py() noexcept;
/// sim/gdb/fermata_writes.py; needs those above.
[[nodiscard]] std::string_view fermata_writes_py() noexcept;
/// sim/gdb/fermata_why.py; likewise.
[[nodiscard]] std::string_view fermata_why_py() noexcept;

}  // namespace fermata::sim::cli
