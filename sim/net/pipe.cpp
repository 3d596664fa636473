// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/pipe.hpp"

#include <algorithm>
#include <utility>

namespace fermata::sim::detail {

void Pipe::send(std::span<const std::byte> bytes, Instant arrival) {
  push({arrival, Kind::Bytes, {bytes.begin(), bytes.end()}});
}

void Pipe::send_end(Instant arrival) {
  if (std::exchange(end_sent_, true)) return;
  push({arrival, Kind::End, {}});
}

void Pipe::send_reset(Instant arrival) {
  push({arrival, Kind::Reset, {}});
  reset_sent_ = true;
}

void Pipe::push(Segment segment) {
  if (reset_sent_) return;
  segment.arrival = std::max(segment.arrival, last_arrival_);
  last_arrival_ = segment.arrival;
  under_way_bytes_ += segment.bytes.size();
  under_way_.push_back(std::move(segment));
}

void Pipe::arrive(Instant now) {
  while (next_arrival() <= now) {
    const Segment segment = std::move(under_way_.front());
    under_way_.pop_front();
    switch (segment.kind) {
      case Kind::Bytes:
        under_way_bytes_ -= segment.bytes.size();
        arrived_.insert(arrived_.end(), segment.bytes.begin(), segment.bytes.end());
        break;
      case Kind::End:
        ended_ = true;
        break;
      case Kind::Reset:
        broken_ = true;
        break;
    }
  }
}

void Pipe::consume(std::size_t bytes) noexcept {
  read_ += bytes;
  if (read_ < arrived_.size()) return;
  arrived_.clear();
  read_ = 0;
}

}  // namespace fermata::sim::detail
