// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/link.hpp"

#include <fmt/format.h>

#include "fermata/base/error.hpp"
#include "fermata/sim/net/link_state.hpp"

namespace fermata::sim {

Latency::Latency(Shape shape, Duration least, Duration most)
    : shape_(shape), least_(least), most_(most) {
  if (least < Duration::zero()) {
    throw UsageError(fmt::format("latency {} ns: expected zero or more", least.count()));
  }
  if (most < least) {
    throw UsageError(fmt::format("latency from {} ns to {} ns: expected at least as much",
                                 least.count(), most.count()));
  }
}

Latency Latency::fixed(Duration latency) { return {Shape::Fixed, latency, latency}; }

Latency Latency::uniform(Duration least, Duration most) { return {Shape::Uniform, least, most}; }

Latency Latency::heavy_tail(Duration least, Duration most) {
  return {Shape::HeavyTail, least, most};
}

template <class F>
Link& Link::each(F change) {
  for (detail::LinkState* way : ways_) {
    if (way != nullptr) change(*way);
  }
  return *this;
}

Link& Link::latency(const Latency& latency) {
  return each([&](detail::LinkState& way) { way.set_latency(latency); });
}

Link& Link::bandwidth(std::uint64_t bytes_per_second) {
  return each([&](detail::LinkState& way) { way.set_bandwidth(bytes_per_second); });
}

Link& Link::cut() {
  return each([](detail::LinkState& way) { way.cut(); });
}

Link& Link::mend() {
  return each([](detail::LinkState& way) { way.mend(); });
}

Link& Link::hold() {
  return each([](detail::LinkState& way) { way.hold(); });
}

Link& Link::release() {
  return each([](detail::LinkState& way) { way.release(); });
}

Link& Link::clog(Duration time) {
  if (time < Duration::zero()) {
    throw UsageError(fmt::format("clog {} ns: expected zero or more", time.count()));
  }
  return each([&](detail::LinkState& way) { way.clog(time); });
}

}  // namespace fermata::sim
