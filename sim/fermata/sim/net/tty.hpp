// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/reactor/stream.hpp"
#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/net/terminal.hpp"

namespace fermata::sim::detail {

class Machine;

/// A standard stream of a program: its machine's terminal, which prints everything at once.
class SimTty final : public backend::StreamHandle, public Terminal::Reader {
 public:
  SimTty(fermata::detail::Attachment& attachment, Machine& machine, Terminal& terminal,
         backend::StandardStream which);

  void expect_input() override;

 private:
  int start_reading() override;
  void stop_reading() noexcept override { reading_ = false; }
  Written try_write(backend::Buffers buffers) override;
  int submit_write(std::span<const std::byte> data) override;
  void submit_shutdown() noexcept override {}
  int apply_mode(backend::TerminalMode mode) override;
  int read_window_size(backend::WindowSize& size) const override;
  void close_backend() noexcept override;

  void input_came();
  void written();

  Machine& machine_;
  Terminal& terminal_;
  std::uint64_t key_;
  MemberHappening<SimTty, &SimTty::input_came> input_;
  MemberHappening<SimTty, &SimTty::written> written_;
  MemberHappening<SimTty, &SimTty::close_acknowledged> acknowledgement_;
  bool reading_ = false;
  bool changed_mode_ = false;
};

}  // namespace fermata::sim::detail
