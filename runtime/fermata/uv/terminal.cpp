// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::uv::detail {

namespace {

/// A pipe whose other users must not notice that it was used here without blocking.
class SharedPipe final : public Pipe {
 public:
  SharedPipe(Loop& loop, backend::Direction direction, int flags)
      : Pipe(loop, direction), flags_(flags) {}

 private:
  void before_close() noexcept override { ::fcntl(descriptor(), F_SETFL, flags_); }

  int flags_;
};

template <class Opened>
Ref<backend::StreamHandle> adopted(Opened* made, int descriptor) {
  auto stream = Ref<Opened>::adopt(*made);
  stream->adopt(descriptor);
  return Ref<backend::StreamHandle>::adopt(*stream.detach());
}

Ref<backend::StreamHandle> adopt(Loop& loop, int descriptor, backend::Direction direction) {
  switch (uv_guess_handle(descriptor)) {
    case UV_TTY:
      return Ref<backend::StreamHandle>::adopt(*new Terminal(loop, descriptor, direction));
    case UV_NAMED_PIPE: {
      const int flags = ::fcntl(descriptor, F_GETFL);
      return adopted(new SharedPipe(loop, direction, flags), descriptor);
    }
    case UV_TCP:
      return adopted(new TcpSocket(loop), descriptor);
    default:
      throw InputOutputError("it is a file: expected a terminal, a pipe or a socket");
  }
}

}  // namespace

Terminal::Terminal(Loop& loop, int descriptor, backend::Direction direction)
    : Stream(loop, backend::IoType::Tty, direction, reinterpret_cast<uv_stream_t*>(&tty_)) {
  check(uv_tty_init(loop.get(), &tty_, descriptor, 0), "adopt a terminal");
  tty_.data = static_cast<Stream*>(this);
  FERMATA_ASSERT(this->descriptor() >= 0);
  // libuv opens the terminal anew where it can, and then does not keep this one.
  if (this->descriptor() != descriptor) ::close(descriptor);
}

int Terminal::apply_mode(backend::TerminalMode mode) {
  return -uv_tty_set_mode(
      &tty_, mode == backend::TerminalMode::Raw ? UV_TTY_MODE_RAW : UV_TTY_MODE_NORMAL);
}

int Terminal::read_window_size(backend::WindowSize& size) const {
  auto* tty = const_cast<uv_tty_t*>(&tty_);  // libuv only reads it.
  return -uv_tty_get_winsize(tty, &size.columns, &size.rows);
}

Ref<backend::StreamHandle> open_standard(Loop& loop, backend::StandardStream which) {
  const std::string operation = fmt::format("open {}", to_string(which));
  const int descriptor = ::fcntl(static_cast<int>(which), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (descriptor < 0) throw InputOutputError(operation, errno);
  try {
    return adopt(
        loop, descriptor,
        which == backend::StandardStream::Input ? backend::Direction::In : backend::Direction::Out);
  } catch (const InputOutputError& error) {
    ::close(descriptor);
    throw InputOutputError(fmt::format("{}: {}", operation, error.what()));
  }
}

}  // namespace fermata::uv::detail
