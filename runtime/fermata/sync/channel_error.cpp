// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/channel_error.hpp"

namespace fermata {

const char* to_string(CloseReason reason) noexcept {
  switch (reason) {
    case CloseReason::Explicit:
      return "Channel is closed";
    case CloseReason::Disposed:
      return "Channel disposed";
    case CloseReason::NoProducers:
      return "Channel deadlock: no producers";
    case CloseReason::NoConsumers:
      return "Channel deadlock: no consumers";
    case CloseReason::Deadlock:
      return "Channel deadlock";
    case CloseReason::ScopeDisposed:
      return "Channel closed: owner scope disposed";
  }
  return "Channel is closed";
}

}  // namespace fermata
