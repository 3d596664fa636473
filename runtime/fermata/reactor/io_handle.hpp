// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

#include "fermata/reactor/handle.hpp"
#include "fermata/reactor/socket_option.hpp"

namespace fermata::backend {

/// What an I/O handle stands for; it decides the implementation, once, when the handle is made.
enum class IoType : std::uint8_t { Pipe, File, Tcp, Udp, Tty };

/// "PIPE", "FILE", "TCP", "UDP" or "TTY".
[[nodiscard]] const char* to_string(IoType type) noexcept;

/// A handle that bytes go through. Idle, it does not keep a program alive: its requests do (IO-15).
class IoHandle : public Handle {
 public:
  [[nodiscard]] IoType io_type() const noexcept { return io_type_; }

  /// Throws UsageError naming a value out of its range, InputOutputError on a closed handle and
  /// where there is no such option.
  void set_option(SocketOption option, int value);
  /// The value that the system uses: it may make buffers larger than requested, or refuse to exceed
  /// its own limit. Throws InputOutputError like set_option().
  [[nodiscard]] int option(SocketOption option) const;

 protected:
  IoHandle(detail::Attachment& attachment, IoType type)
      : Handle(attachment, EventKind::Io), io_type_(type) {}
  ~IoHandle() override = default;

  // --- hooks; error codes are positive errno values, 0 for success ---

  virtual int apply_option(SocketOption, int) { return ENOPROTOOPT; }
  virtual int read_option(SocketOption, int&) const { return ENOPROTOOPT; }

 private:
  IoType io_type_;
};

}  // namespace fermata::backend
