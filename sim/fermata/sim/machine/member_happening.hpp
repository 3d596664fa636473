// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/sim/machine/agenda.hpp"

namespace fermata::sim::detail {

/// Calls a member function of its owner.
template <class Owner>
class MemberHappening final : public Happening {
 public:
  MemberHappening(Owner& owner, void (Owner::*function)()) : owner_(owner), function_(function) {}
  void happen() override { (owner_.*function_)(); }

 private:
  Owner& owner_;
  void (Owner::*function_)();
};

}  // namespace fermata::sim::detail
