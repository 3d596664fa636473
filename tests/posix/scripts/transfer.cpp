// SPDX-License-Identifier: Apache-2.0

// Steps that read and write.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/posix/scripts/answers.hpp"
#include "tests/posix/scripts/names.hpp"
#include "tests/posix/scripts/operations.hpp"

namespace fermata::test {

namespace {

/// The bytes that a step sends: all the same letter, so that logs tell where they come from.
std::string data_of(const Run& run, std::size_t size) {
  return std::string(size, static_cast<char>('a' + run.step % 26));
}

constexpr std::size_t kPage = 4096;

std::size_t size_of(const Step& step) {
  if (step.in_pages) return kPage * step.one_of<std::size_t>(0, {1, 1, 2, 5, 16, 17});
  return step.one_of<std::size_t>(0, {1, 3, 8, 8, 20, 0, 100});
}

Answer received(const std::string& call, ssize_t result, std::span<const char> buffer) {
  return {
      call, result_with(result, [&] {
        return bytes_text(buffer.first(std::min(static_cast<std::size_t>(result), buffer.size())));
      })};
}

}  // namespace

Answer read_some(Run& run, const Step& step) {
  std::vector<char> buffer(size_of(step));
  const ssize_t result = ::read(run[step.first], buffer.data(), buffer.size());
  return received(fmt::format("read(${}, {})", step.first, buffer.size()), result, buffer);
}

namespace {

/// The size of the first of two pieces.
std::size_t first_size_of(const Step& step) { return step.in_pages ? kPage : 5; }

}  // namespace

Answer read_pieces(Run& run, const Step& step) {
  const std::size_t first = first_size_of(step);
  std::vector<char> buffer(size_of(step) + first);
  const std::array<iovec, 2> pieces = {iovec{buffer.data(), first},
                                       iovec{buffer.data() + first, buffer.size() - first}};
  const int count = step.one_of(1, {2, 2, 2, 2, 0, -1});
  const ssize_t result = ::readv(run[step.first], pieces.data(), count);
  return received(
      fmt::format("readv(${}, {} + {}, {})", step.first, first, buffer.size() - first, count),
      result, buffer);
}

// Not MSG_WAITALL: behind the bytes that it receives, a Unix socket of Linux forgets ECONNRESET.
Answer receive_some(Run& run, const Step& step) {
  std::vector<char> buffer(size_of(step));
  const int flags =
      step.one_of<int>(1, {0, MSG_PEEK, MSG_DONTWAIT, MSG_PEEK | MSG_DONTWAIT, MSG_TRUNC});
  Name name;
  name.any.sa_family = AF_UNIX;
  const ssize_t result =
      ::recvfrom(run[step.first], buffer.data(), buffer.size(), flags, &name.any, &name.size);
  Answer answer = received(
      fmt::format("recvfrom(${}, {}, {:#x})", step.first, buffer.size(), flags), result, buffer);
  if (result >= 0 && is_ip(name)) answer.result += " from " + name_text(name);
  return answer;
}

Answer write_some(Run& run, const Step& step) {
  const std::string data = data_of(run, size_of(step));
  return {fmt::format("write(${}, {})", step.first, data.size()),
          result_of(::write(run[step.first], data.data(), data.size()))};
}

Answer write_pieces(Run& run, const Step& step) {
  const std::size_t first = first_size_of(step);
  std::string data = data_of(run, size_of(step) + first);
  const std::array<iovec, 2> pieces = {iovec{data.data(), first},
                                       iovec{data.data() + first, data.size() - first}};
  const int count = step.one_of(1, {2, 2, 2, 2, 0, -1});
  return {fmt::format("writev(${}, {} + {}, {})", step.first, first, data.size() - first, count),
          result_of(::writev(run[step.first], pieces.data(), count))};
}

Answer send_some(Run& run, const Step& step) {
  const std::string data = data_of(run, size_of(step));
  const int flags = MSG_NOSIGNAL | step.one_of<int>(1, {0, MSG_DONTWAIT});
  return {fmt::format("send(${}, {}, {:#x})", step.first, data.size(), flags),
          result_of(::send(run[step.first], data.data(), data.size(), flags))};
}

Answer send_to(Run& run, const Step& step) {
  const std::string data = data_of(run, size_of(step));
  const Name name = address_of(run[step.second], run[step.first], step.ipv6);
  return {fmt::format("sendto(${}, {}, address of ${})", step.first, data.size(), step.second),
          result_of(::sendto(run[step.first], data.data(), data.size(), MSG_NOSIGNAL, &name.any,
                             name.size))};
}

Answer send_to_path(Run& run, const Step& step) {
  const std::string data = data_of(run, size_of(step));
  const std::uint64_t path = step.choice(1, 3);
  const Name name = path_of(path);
  return {fmt::format("sendto(${}, {}, path {})", step.first, data.size(), path),
          result_of(::sendto(run[step.first], data.data(), data.size(), MSG_NOSIGNAL, &name.any,
                             name.size))};
}

Answer add_to_event(Run& run, const Step& step) {
  if (step.in_pages) return write_some(run, step);
  const std::uint64_t added = step.one_of(0, {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2},
                                              UINT64_MAX - 1, std::uint64_t{UINT64_MAX}});
  return {fmt::format("write(${}, number {})", step.first, added),
          result_of(::write(run[step.first], &added, sizeof added))};
}

Answer shut_down(Run& run, const Step& step) {
  const int how = step.one_of<int>(0, {SHUT_RD, SHUT_WR, SHUT_RDWR, SHUT_WR, 3});
  return {fmt::format("shutdown(${}, {})", step.first, how),
          result_of(::shutdown(run[step.first], how))};
}

}  // namespace fermata::test
