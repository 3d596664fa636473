// SPDX-License-Identifier: Apache-2.0
#pragma once

// The standard streams for coroutines: a terminal, or what stands in its place.
//
// Descriptors  0 to 2 are duplicated, and never closed (IO-11). A terminal, a pipe and a socket are
//              streams; a file, /dev/null included, is refused: open /dev/stdin or its fellows as a
//              File.
// Ownership    Closing leaves the terminal, or pipe, as it was found: out of raw mode.
// End          What a terminal's user ends with Ctrl-D stays ended for this stream (IO-04).

#include "fermata/io/byte_stream.hpp"
#include "fermata/reactor/terminal.hpp"

namespace fermata {

using backend::StandardStream;
using backend::TerminalMode;
using backend::WindowSize;

class TtyStream : public ByteStream {
 public:
  using ByteStream::ByteStream;

  // Each throws InputOutputError, for instance "open standard input: it is a file: expected a
  // terminal, a pipe or a socket". Only input is read, only the others are written.
  [[nodiscard]] static TtyStream input(SourcePlace place = SourcePlace::current()) {
    return open(StandardStream::Input, place);
  }
  [[nodiscard]] static TtyStream output(SourcePlace place = SourcePlace::current()) {
    return open(StandardStream::Output, place);
  }
  [[nodiscard]] static TtyStream error(SourcePlace place = SourcePlace::current()) {
    return open(StandardStream::Error, place);
  }

  [[nodiscard]] bool is_terminal() const { return handle().io_type() == backend::IoType::Tty; }

  // Each throws InputOutputError on a closed stream, and when it is not a terminal.
  [[nodiscard]] WindowSize window_size() const { return handle().window_size(); }
  void set_mode(TerminalMode mode) { handle().set_terminal_mode(mode); }

 private:
  static TtyStream open(StandardStream which, const SourcePlace& place);
};

}  // namespace fermata
