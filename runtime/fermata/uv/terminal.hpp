// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a process's standard streams are: a terminal, or a pipe that others use too.

#include "fermata/reactor/terminal.hpp"
#include "fermata/uv/stream.hpp"

namespace fermata::uv::detail {

class Terminal final : public Stream {
 public:
  /// Takes over a terminal's descriptor. Throws InputOutputError; then it is still the caller's.
  Terminal(Loop& loop, int descriptor, backend::Direction direction);

 private:
  int apply_mode(backend::TerminalMode mode) override;
  int read_window_size(backend::WindowSize& size) const override;
  void before_close() noexcept override { apply_mode(backend::TerminalMode::Lines); }

  uv_tty_t tty_;
};

/// Opens a duplicate of the descriptor that `which` stands for. Throws InputOutputError.
[[nodiscard]] Ref<backend::StreamHandle> open_standard(Loop& loop, backend::StandardStream which);

}  // namespace fermata::uv::detail
