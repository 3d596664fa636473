// SPDX-License-Identifier: Apache-2.0

// Steps that ask for options of sockets, and set them.

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <string>

#include "tests/posix/scripts/answers.hpp"
#include "tests/posix/scripts/operations.hpp"

namespace fermata::test {

Answer get_option(Run& run, const Step& step) {
  const int name =
      step.one_of(0, {SO_ERROR, SO_ERROR, SO_TYPE, SO_DOMAIN, SO_ACCEPTCONN, SO_PROTOCOL});
  int value = -1;
  socklen_t size = sizeof value;
  const int result = ::getsockopt(run[step.first], SOL_SOCKET, name, &value, &size);
  const auto text = [&] {
    if (name != SO_ERROR || value == 0) return fmt::to_string(value);
    return std::string(::strerrorname_np(value));
  };
  return {fmt::format("getsockopt(${}, {})", step.first, name), result_with(result, text)};
}

namespace {

// Not SO_PRIORITY, which is another one after IP_TOS was set: the world does not model that.

/// An option that is a number, and what it may be set to.
struct Option {
  const char* name;
  int level;
  int number;
  std::array<int, 3> values;
};

constexpr std::array kOptions = {
    Option{"SO_REUSEADDR", SOL_SOCKET, SO_REUSEADDR, {0, 1, 7}},
    Option{"SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE, {0, 1, 7}},
    Option{"SO_BROADCAST", SOL_SOCKET, SO_BROADCAST, {0, 1, 7}},
    Option{"SO_OOBINLINE", SOL_SOCKET, SO_OOBINLINE, {0, 1, 7}},
    Option{"SO_DONTROUTE", SOL_SOCKET, SO_DONTROUTE, {0, 0, 0}},
    Option{"SO_TYPE", SOL_SOCKET, SO_TYPE, {0, 1, 7}},
    Option{"option 999", SOL_SOCKET, 999, {0, 1, 7}},
    Option{"TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY, {1, 1, 7}},
    Option{"TCP_KEEPIDLE", IPPROTO_TCP, TCP_KEEPIDLE, {0, 100, 40'000}},
    Option{"TCP_KEEPINTVL", IPPROTO_TCP, TCP_KEEPINTVL, {0, 10, 40'000}},
    Option{"TCP_KEEPCNT", IPPROTO_TCP, TCP_KEEPCNT, {0, 10, 400}},
    Option{"TCP_SYNCNT", IPPROTO_TCP, TCP_SYNCNT, {0, 3, 400}},
    Option{"TCP_USER_TIMEOUT", IPPROTO_TCP, TCP_USER_TIMEOUT, {-1, 30'000, 0}},
    Option{"IP_TTL", IPPROTO_IP, IP_TTL, {0, 64, 256}},
    Option{"IP_TOS", IPPROTO_IP, IP_TOS, {0, 8, 16}},
};

}  // namespace

Answer set_number(Run& run, const Step& step) {
  const Option& option = kOptions[step.choice(0, kOptions.size())];
  const int value = option.values[step.choice(1, option.values.size())];
  const socklen_t size = step.one_of<socklen_t>(2, {4, 4, 4, 4, 2, 0});
  return {fmt::format("setsockopt(${}, {}, {}, {} bytes)", step.first, option.name, value, size),
          result_of(::setsockopt(run[step.first], option.level, option.number, &value, size))};
}

Answer get_number(Run& run, const Step& step) {
  const Option& option = kOptions[step.choice(0, kOptions.size())];
  int value = 0;
  const socklen_t asked = step.one_of<socklen_t>(1, {4, 4, 4, 4, 2, 0});
  socklen_t size = asked;
  const int result = ::getsockopt(run[step.first], option.level, option.number, &value, &size);
  return {fmt::format("getsockopt(${}, {}, {} bytes)", step.first, option.name, asked),
          result_with(result, [&] { return fmt::format("{}, {} bytes", value, size); })};
}

// Who does not linger resets its connection when it closes it.
Answer set_linger(Run& run, const Step& step) {
  const linger value = {.l_onoff = step.one_of(0, {1, 1, 0}), .l_linger = 0};
  return {fmt::format("setsockopt(${}, SO_LINGER, {})", step.first, value.l_onoff),
          result_of(::setsockopt(run[step.first], SOL_SOCKET, SO_LINGER, &value, sizeof value))};
}

Answer set_limit(Run& run, const Step& step) {
  const int name = step.one_of(0, {SO_RCVTIMEO, SO_SNDTIMEO});
  timeval value = {.tv_sec = 5, .tv_usec = step.one_of<suseconds_t>(1, {0, 20'000, 1'000'000, -1})};
  const long microseconds = value.tv_usec;
  const std::string set =
      result_of(::setsockopt(run[step.first], SOL_SOCKET, name, &value, sizeof value));
  socklen_t size = sizeof value;
  const int got = ::getsockopt(run[step.first], SOL_SOCKET, name, &value, &size);
  return {fmt::format("setsockopt(${}, {}, 5 s {} us), getsockopt", step.first,
                      name == SO_RCVTIMEO ? "SO_RCVTIMEO" : "SO_SNDTIMEO", microseconds),
          set + ", " + result_with(got, [&] {
            return fmt::format("{} s {} us", value.tv_sec, value.tv_usec);
          })};
}

}  // namespace fermata::test
