// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/pipe.hpp"

#include <utility>

#include "fermata/io/request_wait.hpp"
#include "fermata/reactor/streams.hpp"

namespace fermata {

PipeStream PipeStream::connect(std::string_view path, const WaitOptions& options,
                               SourcePlace place) {
  detail::check_token(options);
  backend::ConnectRequest request(current_runtime().reactor().streams(), backend::PipePath(path));
  detail::finish(request, options, place);
  return PipeStream(request.take(), place);
}

PipeListener PipeListener::bind(std::string_view path, const ListenOptions& options,
                                SourcePlace place) {
  return PipeListener(
      current_runtime().reactor().streams().listen(backend::PipePath(path), options), place);
}

PipeEnds open_pipe(SourcePlace place) {
  backend::PipeHandles ends = current_runtime().reactor().streams().open_pipe();
  return {PipeStream(std::move(ends.reader), place), PipeStream(std::move(ends.writer), place)};
}

}  // namespace fermata
