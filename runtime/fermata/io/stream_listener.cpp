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
  try {
    backend::AcceptRequest request(*listener);
    finish(request, options, place);
    return request.take();
  } catch (const InputOutputError&) {
    if (listener->is_closed()) return {};
    throw;
  }
}

Ref<backend::StreamHandle> take_accepted(backend::ListenerHandle& listener,
                                         backend::AcceptRequest& request) {
  FERMATA_ASSERT(request.is_completed());
  if (!request.error()) return request.take();
  if (listener.is_closed()) return {};
  std::rethrow_exception(request.error());
}

}  // namespace fermata::detail
