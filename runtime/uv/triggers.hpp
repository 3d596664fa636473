// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/runtime/reactor/trigger.hpp"
#include "fermata/runtime/uv/loop.hpp"

namespace fermata::uv::detail {

/// Every trigger shares the loop's own wake-up.
class Triggers final : public fermata::Triggers {
 public:
  explicit Triggers(Loop& loop) : fermata::Triggers(loop.attachment()), loop_(loop) {}

  using fermata::Triggers::deliver;

 private:
  void request_delivery() noexcept override { loop_.wake(); }

  Loop& loop_;
};

}  // namespace fermata::uv::detail
