// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/base/intrusive_list.hpp"

namespace fermata::loop::detail {

/// An object that lives in a loop, and ends with it at the latest: Loop::add.
class Member {
 public:
  Member() = default;
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  /// The loop is being destroyed, and is not to be used any more. Callbacks of it that are
  /// suspended may return later.
  virtual void loop_ended() noexcept = 0;

 protected:
  ~Member() = default;

 private:
  fermata::detail::Link<Member> link_;

 public:
  using List = fermata::detail::IntrusiveList<Member, &Member::link_>;
};

}  // namespace fermata::loop::detail
