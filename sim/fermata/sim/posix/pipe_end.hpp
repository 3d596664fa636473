// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>

#include "fermata/sim/net/stream_end.hpp"
#include "fermata/sim/posix/description.hpp"

namespace fermata::sim::detail {

/// An end of an anonymous pipe.
class PipeEnd final : public Description, public StreamUser {
 public:
  /// The reading end first.
  [[nodiscard]] static std::array<std::shared_ptr<PipeEnd>, 2> make_pair(
      Machine& machine, Network& network, const std::array<std::uint64_t, 2>& serials);

  PipeEnd(Machine& machine, Network& network, std::uint64_t serial,
          std::shared_ptr<Connection> connection, Connection::Side side);
  ~PipeEnd() override { end_.close(); }

  [[nodiscard]] ssize_t read(std::span<const iovec> target) override;
  [[nodiscard]] ssize_t write(std::span<const iovec> source) override;
  [[nodiscard]] int readable_bytes() override;
  [[nodiscard]] mode_t mode() const noexcept override { return S_IFIFO | 0600; }
  [[nodiscard]] Readiness readiness() override;

  void connected_end(int) override {}
  void input_came() override;
  void room_came() override { changed(); }

 private:
  void watched(bool value) noexcept override { end_.watch(value); }
  [[nodiscard]] bool reads() const noexcept { return end_.side() == Connection::Server; }
  [[nodiscard]] bool peer_closed() const noexcept {
    return end_.connection().end(Connection::other(end_.side())).closed;
  }

  StreamEnd end_;
};

}  // namespace fermata::sim::detail
