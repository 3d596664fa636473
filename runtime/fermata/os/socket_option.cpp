// SPDX-License-Identifier: Apache-2.0
#include <netinet/tcp.h>

#include <cerrno>

#include "fermata/os/socket_address.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::os {

namespace {

template <class Value>
int set(int descriptor, int level, int name, Value value) {
  return kernel.setsockopt(descriptor, level, name, &value, sizeof value) == 0 ? 0 : errno;
}

template <class Value>
int get(int descriptor, int level, int name, Value& value) {
  socklen_t size = sizeof value;
  return kernel.getsockopt(descriptor, level, name, &value, &size) == 0 ? 0 : errno;
}

}  // namespace

int set_option(int descriptor, backend::SocketOption option, int value) {
  switch (option) {
    case backend::SocketOption::NoDelay:
      return set(descriptor, IPPROTO_TCP, TCP_NODELAY, value);
    case backend::SocketOption::KeepAlive:
      if (value > 0) {
        const int code = set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, value);
        if (code != 0) return code;
      }
      return set(descriptor, SOL_SOCKET, SO_KEEPALIVE, value > 0 ? 1 : 0);
    case backend::SocketOption::SendBuffer:
      return set(descriptor, SOL_SOCKET, SO_SNDBUF, value);
    case backend::SocketOption::ReceiveBuffer:
      return set(descriptor, SOL_SOCKET, SO_RCVBUF, value);
    case backend::SocketOption::ResetOnClose:
      return set(descriptor, SOL_SOCKET, SO_LINGER, linger{.l_onoff = value, .l_linger = 0});
  }
  return ENOPROTOOPT;
}

int get_option(int descriptor, backend::SocketOption option, int& value) {
  switch (option) {
    case backend::SocketOption::NoDelay: {
      const int code = get(descriptor, IPPROTO_TCP, TCP_NODELAY, value);
      value = value != 0 ? 1 : 0;
      return code;
    }
    case backend::SocketOption::KeepAlive: {
      int on = 0;
      if (const int code = get(descriptor, SOL_SOCKET, SO_KEEPALIVE, on); code != 0) return code;
      return on != 0 ? get(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, value) : 0;
    }
    case backend::SocketOption::SendBuffer:
      return get(descriptor, SOL_SOCKET, SO_SNDBUF, value);
    case backend::SocketOption::ReceiveBuffer:
      return get(descriptor, SOL_SOCKET, SO_RCVBUF, value);
    case backend::SocketOption::ResetOnClose: {
      linger closing{};
      const int code = get(descriptor, SOL_SOCKET, SO_LINGER, closing);
      value = closing.l_onoff != 0 && closing.l_linger == 0 ? 1 : 0;
      return code;
    }
  }
  return ENOPROTOOPT;
}

}  // namespace fermata::os
