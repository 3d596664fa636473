// SPDX-License-Identifier: Apache-2.0

// Steps that ask what descriptors are ready for.

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/posix/scripts/answers.hpp"
#include "tests/posix/scripts/operations.hpp"

namespace fermata::test {

Answer control_epoll(Run& run, const Step& step) {
  constexpr std::array kEvents = {std::uint32_t{EPOLLIN}, std::uint32_t{EPOLLOUT},
                                  std::uint32_t{EPOLLRDHUP}, std::uint32_t{EPOLLET},
                                  std::uint32_t{EPOLLONESHOT}};
  const int operation = step.one_of<int>(0, {EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_ADD,
                                             EPOLL_CTL_MOD, EPOLL_CTL_MOD, EPOLL_CTL_DEL, 9});
  epoll_event event = {};
  for (std::size_t i = 0; i < kEvents.size(); ++i) {
    if ((step.choice(1, 256) >> i & 1) != 0) event.events |= kEvents[i];
  }
  event.data.u64 = static_cast<std::uint64_t>(step.second);
  constexpr std::array kNames = {"ADD", "DEL", "MOD"};
  return {fmt::format("epoll_ctl(${}, {}, ${}, {})", step.first,
                      operation == 9 ? "9" : kNames[static_cast<std::size_t>(operation - 1)],
                      step.second, bits_text(event.events)),
          result_of(::epoll_ctl(run[step.first], operation, run[step.second], &event))};
}

Answer wait_for_epoll(Run& run, const Step& step) {
  std::array<epoll_event, 8> events{};
  const int room = step.one_of(0, {8, 8, 8, 1, 2});
  const int result = ::epoll_wait(run[step.first], events.data(), room, 0);
  const auto text = [&] {
    std::string told;
    for (int i = 0; i < result; ++i) {
      const epoll_event& each = events[static_cast<std::size_t>(i)];
      told += fmt::format(" ${} {}", std::uint64_t{each.data.u64}, bits_text(each.events));
    }
    return told;
  };
  return {fmt::format("epoll_wait(${}, {})", step.first, room), result_with(result, text)};
}

Answer poll_two(Run& run, const Step& step) {
  const auto wanted = [&](unsigned digit) {
    return step.one_of<short>(digit, {POLLIN | POLLOUT | POLLRDHUP, POLLIN, POLLOUT, 0});
  };
  std::array<pollfd, 2> asked = {pollfd{run[step.first], wanted(0), 0},
                                 pollfd{run[step.second], wanted(1), 0}};
  const int result = ::poll(asked.data(), asked.size(), 0);
  const auto bits = [](short value) { return bits_text(static_cast<std::uint16_t>(value)); };
  return {
      fmt::format("poll(${} {}, ${} {})", step.first, bits(asked[0].events), step.second,
                  bits(asked[1].events)),
      result_with(result, [&] { return bits(asked[0].revents) + " " + bits(asked[1].revents); })};
}

Answer select_two(Run& run, const Step& step) {
  fd_set readable;
  fd_set writable;
  fd_set exceptional;
  FD_ZERO(&readable);
  FD_ZERO(&writable);
  FD_ZERO(&exceptional);
  const std::array<int, 2> asked = {run[step.first], run[step.second]};
  for (const int each : asked) {
    if (each < 0) continue;
    FD_SET(each, &readable);
    FD_SET(each, &writable);
    FD_SET(each, &exceptional);
  }
  timeval limit = {};
  const int end = 1 + std::max({asked[0], asked[1], 0});
  const int result = ::select(end, &readable, &writable, &exceptional, &limit);
  const auto text = [&] {
    std::string told;
    for (const int each : asked) {
      if (each < 0) continue;
      told += FD_ISSET(each, &readable) ? 'r' : '-';
      told += FD_ISSET(each, &writable) ? 'w' : '-';
      told += FD_ISSET(each, &exceptional) ? 'x' : '-';
      told += ' ';
    }
    return told;
  };
  return {fmt::format("select(${}, ${})", step.first, step.second), result_with(result, text)};
}

// What expires at once is waited for.
Answer set_timer(Run& run, const Step& step) {
  const time_t interval = step.one_of<time_t>(1, {0, 7200});
  const itimerspec setting = {.it_interval = {.tv_sec = interval, .tv_nsec = 0},
                              .it_value = {.tv_sec = step.one_of<time_t>(0, {0, 3600, 0}),
                                           .tv_nsec = step.one_of<long>(0, {0, 0, 1})}};
  itimerspec before = {};
  const int result = ::timerfd_settime(run[step.first], 0, &setting, &before);
  if (result == 0 && setting.it_value.tv_nsec != 0) {
    pollfd expired = {run[step.first], POLLIN, 0};
    static_cast<void>(::poll(&expired, 1, 200));
  }
  return {fmt::format("timerfd_settime(${}, {}.{}, {})", step.first, setting.it_value.tv_sec,
                      setting.it_value.tv_nsec, interval),
          result_with(result, [&] {
            return fmt::format("{}, {}", before.it_value.tv_sec > 0, before.it_interval.tv_sec);
          })};
}

Answer get_timer(Run& run, const Step& step) {
  itimerspec left = {};
  const int result = ::timerfd_gettime(run[step.first], &left);
  return {fmt::format("timerfd_gettime(${})", step.first), result_with(result, [&] {
            return fmt::format("{}, {}", left.it_value.tv_sec > 0, left.it_interval.tv_sec);
          })};
}

}  // namespace fermata::test
