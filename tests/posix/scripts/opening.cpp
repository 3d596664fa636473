// SPDX-License-Identifier: Apache-2.0

// Steps that open descriptors.

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "tests/posix/scripts/answers.hpp"
#include "tests/posix/scripts/operations.hpp"

namespace fermata::test {

namespace {

Answer open_pair(Run& run, const Step& step, const char* call, int (*open)(int* ends, int flags),
                 int flags) {
  std::array<int, 2> ends = {-1, -1};
  const int result = open(ends.data(), flags);
  run.fill(step.made[0], ends[0]);
  run.fill(step.made[1], ends[1]);
  return {fmt::format("${}, ${} = {}({:#x})", step.made[0], step.made[1], call, flags),
          result_with(result, [&] { return fmt::format("{} {}", ends[0], ends[1]); })};
}

}  // namespace

Answer make_socket_pair(Run& run, const Step& step) {
  const auto open = [](int* ends, int flags) {
    return ::socketpair(AF_UNIX, SOCK_STREAM | flags, 0, ends);
  };
  return open_pair(run, step, "socketpair", open,
                   SOCK_NONBLOCK | step.one_of<int>(0, {0, SOCK_CLOEXEC}));
}

Answer make_datagram_pair(Run& run, const Step& step) {
  const auto open = [](int* ends, int flags) {
    return ::socketpair(AF_UNIX, SOCK_DGRAM | flags, 0, ends);
  };
  return open_pair(run, step, "socketpair of datagrams", open,
                   SOCK_NONBLOCK | step.one_of<int>(0, {0, SOCK_CLOEXEC}));
}

Answer make_unix_datagram(Run& run, const Step& step) {
  const int flags = SOCK_NONBLOCK | step.one_of<int>(0, {0, SOCK_CLOEXEC});
  return opened(run, step, ::socket(AF_UNIX, SOCK_DGRAM | flags, 0),
                fmt::format("socket(AF_UNIX, SOCK_DGRAM, {:#x})", flags));
}

Answer make_pipe(Run& run, const Step& step) {
  return open_pair(run, step, "pipe2", ::pipe2, O_NONBLOCK | step.one_of<int>(0, {0, O_CLOEXEC}));
}

Answer make_eventfd(Run& run, const Step& step) {
  const auto first = step.one_of(0, {0u, 1u, 3u});
  const int flags = EFD_NONBLOCK | step.one_of<int>(1, {0, EFD_SEMAPHORE, EFD_CLOEXEC});
  return opened(run, step, ::eventfd(first, flags),
                fmt::format("eventfd({}, {:#x})", first, flags));
}

Answer make_timer(Run& run, const Step& step) {
  const int flags = TFD_NONBLOCK | step.one_of<int>(0, {0, TFD_CLOEXEC});
  return opened(run, step, ::timerfd_create(CLOCK_MONOTONIC, flags),
                fmt::format("timerfd_create({:#x})", flags));
}

Answer make_epoll(Run& run, const Step& step) {
  const int flags = step.one_of<int>(0, {0, EPOLL_CLOEXEC, 1});
  return opened(run, step, ::epoll_create1(flags), fmt::format("epoll_create1({:#x})", flags));
}

Answer make_unix(Run& run, const Step& step) {
  const int flags = SOCK_NONBLOCK | step.one_of<int>(0, {0, SOCK_CLOEXEC});
  return opened(run, step, ::socket(AF_UNIX, SOCK_STREAM | flags, 0),
                fmt::format("socket(AF_UNIX, SOCK_STREAM, {:#x})", flags));
}

namespace {

template <int Type>
Answer make_ip(Run& run, const Step& step, const char* type) {
  const int flags = SOCK_NONBLOCK | step.one_of<int>(0, {0, SOCK_CLOEXEC});
  return opened(
      run, step, ::socket(step.ipv6 ? AF_INET6 : AF_INET, Type | flags, 0),
      fmt::format("socket({}, {}, {:#x})", step.ipv6 ? "AF_INET6" : "AF_INET", type, flags));
}

}  // namespace

// Small segments do not wait for each other.
Answer make_tcp(Run& run, const Step& step) {
  Answer answer = make_ip<SOCK_STREAM>(run, step, "SOCK_STREAM");
  const int on = 1;
  static_cast<void>(::setsockopt(run[step.made[0]], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  return answer;
}

Answer make_udp(Run& run, const Step& step) { return make_ip<SOCK_DGRAM>(run, step, "SOCK_DGRAM"); }

/// What cannot be opened, or not so, and is closed again if it can.
Answer open_wrongly(Run&, const Step& step) {
  struct Wrong {
    const char* call;
    int (*open)();
  };
  constexpr std::array kWrong = {
      Wrong{"socket(99, SOCK_STREAM, 0)", [] { return ::socket(99, SOCK_STREAM, 0); }},
      Wrong{"socket(AF_UNIX, 99, 0)", [] { return ::socket(AF_UNIX, 99, 0); }},
      Wrong{"socket(AF_UNIX, SOCK_RDM, 0)", [] { return ::socket(AF_UNIX, SOCK_RDM, 0); }},
      Wrong{"socket(AF_UNIX, SOCK_STREAM, 1)", [] { return ::socket(AF_UNIX, SOCK_STREAM, 1); }},
      Wrong{"socket(AF_UNIX, SOCK_STREAM, 2)", [] { return ::socket(AF_UNIX, SOCK_STREAM, 2); }},
      Wrong{"socket(AF_INET, 0, 0)", [] { return ::socket(AF_INET, 0, 0); }},
      Wrong{"socket(AF_INET, 99, 0)", [] { return ::socket(AF_INET, 99, 0); }},
      Wrong{"socket(AF_INET, SOCK_SEQPACKET, 0)",
            [] { return ::socket(AF_INET, SOCK_SEQPACKET, 0); }},
      Wrong{"socket(AF_INET, SOCK_STREAM, UDP)",
            [] { return ::socket(AF_INET, SOCK_STREAM, IPPROTO_UDP); }},
      Wrong{"socket(AF_INET, SOCK_DGRAM, TCP)",
            [] { return ::socket(AF_INET, SOCK_DGRAM, IPPROTO_TCP); }},
      Wrong{"socket(AF_INET, SOCK_DGRAM, UDP)",
            [] { return ::socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP); }},
      Wrong{"socketpair(AF_INET, SOCK_STREAM)",
            [] {
              std::array<int, 2> ends{};
              return ::socketpair(AF_INET, SOCK_STREAM, 0, ends.data());
            }},
      Wrong{"socketpair(AF_UNIX, SOCK_STREAM, 2)",
            [] {
              std::array<int, 2> ends{};
              return ::socketpair(AF_UNIX, SOCK_STREAM, 2, ends.data());
            }},
      Wrong{"pipe2(1)",
            [] {
              std::array<int, 2> ends{};
              return ::pipe2(ends.data(), 1);
            }},
      Wrong{"eventfd(0, 2)", [] { return ::eventfd(0, 2); }},
      Wrong{"timerfd_create(99, 0)", [] { return ::timerfd_create(99, 0); }},
      Wrong{"timerfd_create(CPU, 0)", [] { return ::timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0); }},
      Wrong{"timerfd_create(MONOTONIC, 1)", [] { return ::timerfd_create(CLOCK_MONOTONIC, 1); }},
      Wrong{"epoll_create(0)", [] { return ::epoll_create(0); }},
  };
  const Wrong& wrong = kWrong[step.choice(0, kWrong.size())];
  const int result = wrong.open();
  std::string text = result_of(result);
  if (result > STDERR_FILENO) static_cast<void>(::close(result));
  return {wrong.call, std::move(text)};
}

}  // namespace fermata::test
