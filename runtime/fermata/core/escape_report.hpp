// SPDX-License-Identifier: Apache-2.0
#pragma once

// Says whose destructor ends the process, when a coroutine is unwound by force and one of its
// destructors lets the ForcedUnwind out.

namespace fermata::detail {

/// While one lives, std::terminate first writes such a case to the standard error stream; then the
/// handler that was there before is called, as for every other case. One handler for the process.
class EscapeReport {
 public:
  EscapeReport() noexcept;
  EscapeReport(const EscapeReport&) = delete;
  EscapeReport& operator=(const EscapeReport&) = delete;
  ~EscapeReport();
};

}  // namespace fermata::detail
