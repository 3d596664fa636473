// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/runtime/reactor/handle.hpp"

namespace fermata {

/// What an I/O handle stands for; it decides the implementation, once, when the handle is made.
enum class IoType : std::uint8_t { Pipe, File, Tcp, Udp, Tty };

/// "PIPE", "FILE", "TCP", "UDP" or "TTY".
[[nodiscard]] const char* to_string(IoType type) noexcept;

/// A handle that bytes go through. Idle, it does not keep a program alive: its requests do (IO-15).
class IoHandle : public Handle {
 public:
  [[nodiscard]] IoType io_type() const noexcept { return io_type_; }

 protected:
  IoHandle(detail::Attachment& attachment, IoType type)
      : Handle(attachment, EventKind::Io), io_type_(type) {}
  ~IoHandle() override = default;

 private:
  IoType io_type_;
};

}  // namespace fermata
