// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/readable.hpp"

#include <fmt/format.h>

#include <deque>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata {

namespace {

/// Throws unless all of them can be waited for.
void require_watchable(std::span<ByteStream* const> streams) {
  FERMATA_REQUIRE(!streams.empty(),
                  "await_any_readable: there are no streams: expected at least one");
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto name = [&] { return fmt::format("await_any_readable: stream {}", i); };
    if (streams[i] == nullptr) throw UsageError(name() + " is null: expected a stream");
    const backend::StreamHandle& stream = streams[i]->handle();
    if (!stream.is_readable()) stream.require_readable(name().c_str());
    if (stream.is_closed()) throw InputOutputError(name() + " is closed");
  }
}

}  // namespace

namespace detail {

void require_open(const backend::StreamHandle& stream) {
  if (stream.is_closed()) throw InputOutputError("Cannot read from closed IO handle");
}

ReadablePlace::ReadablePlace(SelectWait& wait, backend::StreamHandle& stream)
    : wait_(wait), stream_(Ref<backend::StreamHandle>::share(stream)) {
  watch_.emplace(wait, stream);
}

void ReadablePlace::require_open() const {
  if (is_closed()) throw InputOutputError("Stream was closed");
}

bool ReadablePlace::is_due() {
  FERMATA_ASSERT(watch_.has_value());
  if (!watch_->event.is_due()) return false;
  if (stream_->answers_at_once()) return true;
  watch_.emplace(wait_, *stream_);
  return watch_->event.is_due();
}

}  // namespace detail

std::size_t await_any_readable(std::span<ByteStream* const> streams, const WaitOptions& options,
                               SourcePlace place) {
  detail::check_token(options);
  require_watchable(streams);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (streams[i]->handle().answers_at_once()) return i;
  }
  const detail::Deadline deadline(options);  // None of them is closed, or readable.
  detail::SelectWait wait;
  std::deque<detail::ReadablePlace> places;
  for (ByteStream* const each : streams) places.emplace_back(wait, each->handle());
  for (;;) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!places[i].is_due()) continue;
      FERMATA_ASSERT(i < streams.size());
      if (!places[i].is_closed()) return i;
      throw InputOutputError(fmt::format("await_any_readable: stream {} was closed", i));
    }
    wait.park(deadline.remaining(), place);
  }
}

}  // namespace fermata
