// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/stream_listener.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/io/request_wait.hpp"

namespace fermata::detail {

Ref<backend::StreamHandle> accept_from(backend::ListenerHandle& handle, const WaitOptions& options,
                                       SourcePlace place) {
  check_token(options);
  const auto listener = Ref<backend::ListenerHandle>::share(handle);
  if (listener->is_closed()) return {};
  backend::AcceptRequest request(*listener);
  if (!request.is_completed()) {
    try {
      wait(request, options, place);
    } catch (const InputOutputError&) {  // Of the request, which is asked below.
    }
  }
  return take_accepted(*listener, request);
}

Ref<backend::StreamHandle> take_accepted(backend::ListenerHandle& listener,
                                         backend::AcceptRequest& request) {
  FERMATA_ASSERT(request.is_completed());
  if (!request.error()) return request.take();
  if (listener.is_closed()) return {};
  request.mark_error_told();
  std::rethrow_exception(request.error());
}

}  // namespace fermata::detail
