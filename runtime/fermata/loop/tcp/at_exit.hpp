// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace fermata::loop::detail {

/// Calls `function`, which throws nothing, at the end of a block.
template <class F>
class AtExit {
 public:
  explicit AtExit(F function) : function_(std::move(function)) {}
  AtExit(const AtExit&) = delete;
  AtExit& operator=(const AtExit&) = delete;
  ~AtExit() { function_(); }

 private:
  F function_;
};

}  // namespace fermata::loop::detail
