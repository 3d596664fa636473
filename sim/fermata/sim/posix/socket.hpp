// SPDX-License-Identifier: Apache-2.0
#pragma once

// What sockets have beyond other descriptions.

#include <sys/socket.h>

#include "fermata/base/assert.hpp"
#include "fermata/sim/posix/description.hpp"
#include "fermata/sim/posix/socket_options.hpp"

namespace fermata::sim::detail {

struct Rights;

/// The directions in which a socket is shut.
struct Shut {
  bool reading = false;
  bool writing = false;

  /// Both are shut now, or one, as shutdown() means it. REQUIRES: SHUT_RD <= how <= SHUT_RDWR.
  void add(int how) noexcept {
    FERMATA_ASSERT(how >= SHUT_RD && how <= SHUT_RDWR);
    reading = reading || how != SHUT_WR;
    writing = writing || how != SHUT_RD;
  }
  [[nodiscard]] bool both() const noexcept { return reading && writing; }
};

/// Operations answer as those of a Description do. What a kind of sockets does not have, it refuses
/// as the system does.
class Socket : public Description {
 public:
  [[nodiscard]] Socket* as_socket() noexcept final { return this; }
  [[nodiscard]] mode_t mode() const noexcept final { return S_IFSOCK | 0777; }

  [[nodiscard]] virtual int bind(const sockaddr* address, socklen_t size) = 0;
  [[nodiscard]] virtual int listen(int /*backlog*/) { return -EOPNOTSUPP; }
  /// The first of the connections that wait; -EAGAIN without one. Null with a negative errno in
  /// `code`. The result has `serial`.
  [[nodiscard]] virtual std::shared_ptr<Socket> accept(std::uint64_t /*serial*/, int& code) {
    code = -EOPNOTSUPP;
    return nullptr;
  }
  /// -EINPROGRESS when it is not known yet; then readiness to write tells, and take_error().
  [[nodiscard]] virtual int connect(const sockaddr* address, socklen_t size) = 0;
  /// The name of the present end, if `own`, else that of the other one.
  [[nodiscard]] virtual int name(bool own, sockaddr* address, socklen_t* size) = 0;
  [[nodiscard]] virtual int shut_down(int how) = 0;
  /// Takes the error that is pending: an errno value, or 0.
  [[nodiscard]] virtual int take_error() = 0;
  /// Descriptors that come with what is received are put into `rights`. Control data are not
  /// touched.
  [[nodiscard]] virtual ssize_t receive(msghdr& message, int flags,
                                        std::shared_ptr<Rights>& rights) = 0;
  /// Takes `rights` as soon as a part is sent.
  [[nodiscard]] virtual ssize_t send(const msghdr& message, int flags,
                                     std::shared_ptr<Rights>& rights) = 0;
  /// Whether descriptors can be sent through it.
  [[nodiscard]] virtual bool carries_rights() const noexcept { return false; }
  /// Whether what one call sends is one piece, of which a part is never sent.
  [[nodiscard]] virtual bool keeps_boundaries() const noexcept { return false; }

  [[nodiscard]] int option(int level, int name, void* value, socklen_t* size);
  [[nodiscard]] int set_option(int level, int name, const void* value, socklen_t size);

  [[nodiscard]] ssize_t read(std::span<const iovec> target) final;
  [[nodiscard]] ssize_t write(std::span<const iovec> source) final;
  [[nodiscard]] std::optional<Duration> read_limit() const final {
    return options_.receive_limit();
  }
  [[nodiscard]] std::optional<Duration> write_limit() const final { return options_.send_limit(); }

 protected:
  Socket(Machine& machine, const char* kind, std::uint64_t serial, const SocketOptions& options);

  [[nodiscard]] virtual bool is_listening() const noexcept { return false; }
  /// Why an option cannot have the value that it was set to, a negative errno, or 0.
  [[nodiscard]] virtual int refuse_option(int /*level*/, int /*name*/) const { return 0; }
  /// Does what an option without a value asks for: 0 or a negative errno; nullopt: another option.
  [[nodiscard]] virtual std::optional<int> carry_out_option(int /*level*/, int /*name*/,
                                                            const void* /*value*/,
                                                            socklen_t /*size*/) {
    return std::nullopt;
  }
  /// An option has another value.
  virtual void options_changed() {}

  SocketOptions options_;
};

}  // namespace fermata::sim::detail
