// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/debugger_names.hpp"

#include <cstddef>
#include <type_traits>

#include "fermata/core/debugger.hpp"
#include "fermata/sync/channel_core.hpp"
#include "fermata/sync/mutex.hpp"

namespace fermata::detail {

// Of classes that are not of standard layout compilers give offsets too, but complain.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

static_assert(std::is_standard_layout_v<Name>);    // Its text is first.
static_assert(std::is_standard_layout_v<Holder>);  // Its id is first.

/// A friend of those whose members it locates.
struct DebuggerNames {
  static void tell() noexcept {
    fermata_debugger_anchor.primitive_name = offsetof(Primitive, name_);
    fermata_debugger_anchor.mutex_holder = offsetof(Mutex, holder_);
    fermata_debugger_anchor.channel_name = offsetof(ChannelCore, name_);
  }
};

#pragma GCC diagnostic pop

bool tell_debuggers_of_names() noexcept {
  DebuggerNames::tell();
  return true;
}

}  // namespace fermata::detail
