// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/posix/kernel.hpp"

namespace fermata::sim::detail {

/// While it lives others may run; then posix::caller is what it was.
class KeptCaller {
 public:
  KeptCaller() noexcept = default;
  KeptCaller(const KeptCaller&) = delete;
  KeptCaller& operator=(const KeptCaller&) = delete;
  ~KeptCaller() { posix::caller = caller_; }

 private:
  const void* caller_ = posix::caller;
};

}  // namespace fermata::sim::detail
