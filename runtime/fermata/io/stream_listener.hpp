// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "fermata/core/suspend.hpp"
#include "fermata/io/handle_owner.hpp"
#include "fermata/reactor/listener.hpp"

namespace fermata::detail {

/// The next connection; null when `listener` is closed, also while this waits.
Ref<backend::StreamHandle> accept_from(backend::ListenerHandle& listener,
                                       const WaitOptions& options, SourcePlace place);

/// The connection of `request`, which has ended; null when `listener` is closed. Throws its error.
Ref<backend::StreamHandle> take_accepted(backend::ListenerHandle& listener,
                                         backend::AcceptRequest& request);

/// Accepts connections of one kind. Closing it closes connections that nobody has accepted.
template <class Stream>
class StreamListener : public HandleOwner<backend::ListenerHandle> {
 public:
  using HandleOwner::HandleOwner;

  /// The next connection; empty when the listener is closed, also while this waits. May suspend. An
  /// accept that is cancelled or times out passes its connection on.
  [[nodiscard]] std::optional<Stream> accept(const WaitOptions& options = {},
                                             SourcePlace place = SourcePlace::current()) {
    Ref<backend::StreamHandle> connection = accept_from(handle(), options, place);
    if (!connection) return std::nullopt;
    return Stream(std::move(connection), place);
  }
};

}  // namespace fermata::detail
