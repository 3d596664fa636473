// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting for input without reading it: for the first of several streams, and as a branch of a
// select (see select.hpp). For one stream there is ByteStream::await_readable.
//
// Readable      A read would not wait: bytes are there, the stream has ended, or it has an error to
//               tell. Nothing is taken, and all who wait for a stream are told. Whoever reads it
//               meanwhile goes first; then this waits on for what comes next.
// Nothing lost  The next read of a stream gets what came, also when the wait is cancelled or times
//               out. A stream that somebody waits for reads one chunk ahead, as it does for a read.
// At once       What has come is seen when somebody has waited for it: with a timeout of zero the
//               first wait for a stream throws Timeout whatever the system has for it.
// Errors        InputOutputError when one of the streams is closed, also meanwhile. UsageError for
//               one that is only written.

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <type_traits>

#include "fermata/io/byte_stream.hpp"
#include "fermata/sync/select.hpp"

namespace fermata {

/// Waits for the first of several streams to be readable and returns its index; of several that
/// are, the first in the order of `streams`: one that always is starves later ones. May suspend.
/// Throws UsageError when there are no streams, or one is null. Allocates when it suspends.
[[nodiscard]] std::size_t await_any_readable(std::span<ByteStream* const> streams,
                                             const WaitOptions& options = {},
                                             SourcePlace place = SourcePlace::current());
[[nodiscard]] inline std::size_t await_any_readable(std::initializer_list<ByteStream*> streams,
                                                    const WaitOptions& options = {},
                                                    SourcePlace place = SourcePlace::current()) {
  return await_any_readable(std::span(streams.begin(), streams.size()), options, place);
}

namespace detail {

/// Throws the error of a read for a stream that is closed.
void require_open(const backend::StreamHandle& stream);

/// One of the streams that a parked wait watches.
class ReadablePlace {
 public:
  ReadablePlace(SelectWait& wait, backend::StreamHandle& stream);

  /// Whether a read would end at once. Watches on when somebody else has read what came.
  [[nodiscard]] bool is_due();
  [[nodiscard]] bool is_closed() const noexcept { return stream_->is_closed(); }
  /// Throws InputOutputError when the stream was closed meanwhile.
  void require_open() const;

 private:
  struct Watch {
    Watch(SelectWait& wait, backend::StreamHandle& stream)
        : request(stream), event(wait, request) {}
    backend::ReadableRequest request;
    SelectEvent event;
  };

  SelectWait& wait_;
  Ref<backend::StreamHandle> stream_;
  std::optional<Watch> watch_;
};

template <class Handler>
class ReadableBranch final : public SelectBranchBase {
 public:
  using Place = ReadablePlace;

  ReadableBranch(backend::StreamHandle& stream, Handler& handler, const SourcePlace& place)
      : SelectBranchBase(place), stream_(&stream), handler_(&handler) {
    stream.require_readable("on_readable");
  }

  [[nodiscard]] bool is_due() const noexcept { return stream_->answers_at_once(); }
  decltype(auto) run_now() const {
    require_open(*stream_);
    return run({});
  }
  [[nodiscard]] Place stand(SelectWait& wait) const { return Place(wait, *stream_); }
  NothingTaken take_from(Place& there) const {
    there.require_open();
    return {};
  }
  decltype(auto) run(NothingTaken) const { return std::invoke(*handler_); }

 private:
  backend::StreamHandle* stream_;
  Handler* handler_;
};

}  // namespace detail

/// Waits until `stream` is readable, and takes nothing. The handler gets nothing.
template <class Handler>
requires(std::is_invocable_v<Handler&>) [[nodiscard]] FERMATA_HOT
    auto on_readable(const ByteStream& stream, Handler&& handler,
                     const SourcePlace& place = SourcePlace::current()) {
  return detail::ReadableBranch<std::remove_reference_t<Handler>>(stream.handle(), handler, place);
}

}  // namespace fermata
