// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a test may do to the way between two machines.

#include <array>
#include <cstdint>

#include "fermata/base/time.hpp"

namespace fermata::sim {

namespace detail {
class LinkState;
}

/// How long whatever is sent is under way, not counting its turn on the line. Each thing that is
/// sent draws its own; the calm answer is the least. What belongs to one connection keeps its
/// order.
class Latency {
 public:
  [[nodiscard]] static Latency fixed(Duration latency);
  /// From `least` to `most`, all alike.
  [[nodiscard]] static Latency uniform(Duration least, Duration most);
  /// Half of the time `least`, a quarter of the time twice that, and so on, but not over `most`.
  [[nodiscard]] static Latency heavy_tail(Duration least, Duration most);

  [[nodiscard]] Duration least() const noexcept { return least_; }

 private:
  friend class detail::LinkState;
  enum class Shape : std::uint8_t { Fixed, Uniform, HeavyTail };

  /// Throws UsageError unless 0 <= least <= most.
  Latency(Shape shape, Duration least, Duration most);

  Shape shape_;
  Duration least_;
  Duration most_;
};

/// The way from one machine to another, or both ways between them; see World::link(). Changes hold
/// for what is sent from then on; what is under way arrives. Of the world's present run.
class Link {
 public:
  /// A new link has a fixed latency of 250 us.
  Link& latency(const Latency& latency);
  /// Bytes in a second, payload alone; what is sent stands in line. 0: any number, as a new link.
  Link& bandwidth(std::uint64_t bytes_per_second);

  /// Nothing gets through: datagrams are lost; a connection sends its bytes again when the link is
  /// mended, and ends with ETIMEDOUT after 924.6 s without; one that is being established sends its
  /// SYN again for 127 s.
  Link& cut();
  Link& mend();

  /// Holds everything that is sent until release(); then it goes on in order.
  Link& hold();
  Link& release();
  /// Holds what is sent for `time` from now. Throws UsageError when `time` is negative.
  Link& clog(Duration time);

 private:
  friend class World;
  Link(detail::LinkState& there, detail::LinkState* back) noexcept : ways_{&there, back} {}

  template <class F>
  Link& each(F change);

  std::array<detail::LinkState*, 2> ways_;  // The second one may be null.
};

}  // namespace fermata::sim
