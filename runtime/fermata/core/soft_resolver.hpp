// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who can end waits that nothing else will end, before they are called a deadlock: a channel whose
// waiters have agreed to give up after some time.

#include "fermata/base/intrusive_list.hpp"

namespace fermata::detail {

class SoftResolver {
 public:
  SoftResolver() = default;
  SoftResolver(const SoftResolver&) = delete;
  SoftResolver& operator=(const SoftResolver&) = delete;

  /// Nothing can run any more. Called once, when it has left the list; must not suspend.
  virtual void resolve() = 0;

 protected:
  ~SoftResolver() = default;

 private:
  Link<SoftResolver> link_;

 public:
  using List = IntrusiveList<SoftResolver, &SoftResolver::link_>;
};

}  // namespace fermata::detail
