// SPDX-License-Identifier: Apache-2.0
#pragma once

// Why a channel is closed, as a value and as an error.

#include <cstdint>

#include "fermata/base/error.hpp"

namespace fermata {

enum class CloseReason : std::uint8_t {
  Explicit,       // somebody called close(): the ordinary end
  Disposed,       // the last handle went
  NoProducers,    // receivers waited longer than ChannelOptions::no_producer_timeout
  NoConsumers,    // senders waited longer than ChannelOptions::no_consumer_timeout
  Deadlock,       // a soft guard was armed when nothing could run any more
  ScopeDisposed,  // the scope of the coroutine that created the channel has ended
};

/// The text of a ChannelError with this reason.
[[nodiscard]] const char* to_string(CloseReason reason) noexcept;

/// The channel is closed, and nothing is left in it. Its previous, an Error, says which channel it
/// is, where it was created and where it was closed.
class ChannelError : public Linkable<ChannelError> {
 public:
  explicit ChannelError(CloseReason reason) : Linkable(to_string(reason)), reason_(reason) {}
  [[nodiscard]] CloseReason reason() const noexcept { return reason_; }

 private:
  CloseReason reason_;
};

}  // namespace fermata
