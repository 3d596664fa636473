// SPDX-License-Identifier: Apache-2.0

// Steps that pass descriptors through Unix sockets.

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "tests/posix/scripts/answers.hpp"
#include "tests/posix/scripts/operations.hpp"

namespace fermata::test {

namespace {

constexpr std::size_t kMostPassed = 2;

/// A message with room for some text and some descriptors.
struct Message {
  explicit Message(std::size_t size) {
    piece = {text.data(), size};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  std::array<char, 64> text{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostPassed * sizeof(int))> control{};
  iovec piece = {};
  msghdr header = {};
};

bool is_unix(int descriptor) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

}  // namespace

// Other sockets refuse control data in the world. And Linux closes Unix sockets that are under way
// through themselves when it likes.
Answer pass_descriptor(Run& run, const Step& step) {
  Message message(step.one_of<std::size_t>(0, {1, 5, 20, 0}));
  std::memset(message.text.data(), 'p', message.text.size());
  const std::size_t count = step.one_of<std::size_t>(1, {1, 1, 1, 2});
  const int passed = is_unix(run[step.second]) ? -1 : run[step.second];
  cmsghdr* const header = CMSG_FIRSTHDR(&message.header);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = step.one_of<int>(2, {SCM_RIGHTS, SCM_RIGHTS, SCM_RIGHTS, SCM_RIGHTS, 77});
  header->cmsg_len = CMSG_LEN(count * sizeof(int));
  const std::array<int, kMostPassed> descriptors = {passed, passed};
  std::memcpy(CMSG_DATA(header), descriptors.data(), count * sizeof(int));
  message.header.msg_controllen = is_unix(run[step.first]) ? CMSG_SPACE(count * sizeof(int)) : 0;
  const int type = header->cmsg_type;
  return {fmt::format("sendmsg(${}, {}, {} * ${}, type {})", step.first, message.piece.iov_len,
                      count, step.second, type),
          result_of(::sendmsg(run[step.first], &message.header, MSG_NOSIGNAL))};
}

Answer take_descriptor(Run& run, const Step& step) {
  Message message(step.one_of<std::size_t>(0, {1, 20, 20, 60, 0}));
  message.header.msg_controllen =
      step.one_of<std::size_t>(1, {CMSG_SPACE(sizeof(int)), CMSG_LEN(sizeof(int)), 8, 0});
  const std::size_t room = message.header.msg_controllen;
  const int flags = step.one_of<int>(2, {0, 0, 0, MSG_CMSG_CLOEXEC, MSG_PEEK});
  const ssize_t result = ::recvmsg(run[step.first], &message.header, flags);
  int taken = -1;
  const cmsghdr* const header = result < 0 ? nullptr : CMSG_FIRSTHDR(&message.header);
  if (header != nullptr) std::memcpy(&taken, CMSG_DATA(header), sizeof taken);
  run.fill(step.made[0], taken);
  const auto text = [&] {
    const std::span<const char> bytes(message.text.data(), static_cast<std::size_t>(result));
    return fmt::format("{}, {} bytes of control, flags {:#x}, descriptor {}", bytes_text(bytes),
                       message.header.msg_controllen, message.header.msg_flags, taken);
  };
  return {fmt::format("${} of recvmsg(${}, {}, {} bytes of control, {:#x})", step.made[0],
                      step.first, message.piece.iov_len, room, flags),
          result_with(result, text)};
}

}  // namespace fermata::test
