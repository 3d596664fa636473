// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/sim/machine/agenda.hpp"

namespace fermata::sim::detail {

/// Calls `Function`, a member function of its owner without parameters.
template <class Owner, auto Function>
class MemberHappening final : public Happening {
 public:
  explicit MemberHappening(Owner& owner) noexcept : owner_(owner) {}
  void happen() override { (owner_.*Function)(); }

 private:
  Owner& owner_;
};

}  // namespace fermata::sim::detail
