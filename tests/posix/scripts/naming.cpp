// SPDX-License-Identifier: Apache-2.0

// Steps that name sockets, and connect them.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <utility>

#include "tests/posix/scripts/answers.hpp"
#include "tests/posix/scripts/names.hpp"
#include "tests/posix/scripts/operations.hpp"

namespace fermata::test {

namespace {

template <int (*Ask)(int, sockaddr*, socklen_t*)>
Answer ask_name(Run& run, const Step& step, const char* call) {
  Name name;
  if (step.choice(0, 8) == 7) name.size = 2;  // No more than the family fits.
  const int result = Ask(run[step.first], &name.any, &name.size);
  return {fmt::format("{}(${})", call, step.first),
          result_with(result, [&] { return name_text(name); })};
}

}  // namespace

Answer get_own_name(Run& run, const Step& step) {
  return ask_name<::getsockname>(run, step, "getsockname");
}
Answer get_peer_name(Run& run, const Step& step) {
  return ask_name<::getpeername>(run, step, "getpeername");
}

Answer bind_path(Run& run, const Step& step) {
  const std::uint64_t path = step.choice(0, 3);
  const Name name = path_of(path);
  return {fmt::format("bind(${}, path {})", step.first, path),
          result_of(::bind(run[step.first], &name.any, name.size))};
}

Answer bind_loopback(Run& run, const Step& step) {
  const Name name = loopback(0, step.ipv6);
  return {fmt::format("bind(${}, loopback:0)", step.first),
          result_of(::bind(run[step.first], &name.any, name.size))};
}

Answer bind_udp(Run& run, const Step& step) { return bind_loopback(run, step); }

Answer listen_at(Run& run, const Step& step) {
  const int backlog = step.one_of(0, {0, 1, 2, 8, -1});
  return {fmt::format("listen(${}, {})", step.first, backlog),
          result_of(::listen(run[step.first], backlog))};
}

Answer connect_to_path(Run& run, const Step& step) {
  const std::uint64_t path = step.choice(0, 3);
  const Name name = path_of(path);
  return {fmt::format("connect(${}, path {})", step.first, path),
          result_of(::connect(run[step.first], &name.any, name.size))};
}

Answer connect_to(Run& run, const Step& step) {
  const Name name = address_of(run[step.second], run[step.first], step.ipv6);
  return {fmt::format("connect(${}, address of ${})", step.first, step.second),
          result_of(::connect(run[step.first], &name.any, name.size))};
}

Answer connect_udp(Run& run, const Step& step) { return connect_to(run, step); }

Answer disconnect(Run& run, const Step& step) {
  Name name;
  name.any.sa_family = AF_UNSPEC;
  return {fmt::format("connect(${}, AF_UNSPEC)", step.first),
          result_of(::connect(run[step.first], &name.any, sizeof name.ip))};
}

Answer accept_one(Run& run, const Step& step) {
  Name name;
  const int flags = SOCK_NONBLOCK | step.one_of<int>(0, {0, SOCK_CLOEXEC});
  const int result = ::accept4(run[step.first], &name.any, &name.size, flags);
  std::string text = result_with(result, [&] { return name_text(name); });
  run.fill(step.made[0], result);
  return {fmt::format("${} = accept4(${}, {:#x})", step.made[0], step.first, flags),
          std::move(text)};
}

}  // namespace fermata::test
