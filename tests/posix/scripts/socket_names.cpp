// SPDX-License-Identifier: Apache-2.0

// Steps that give Unix sockets names in the file system.

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "tests/posix/scripts/answers.hpp"
#include "tests/posix/scripts/file_script.hpp"

namespace fermata::test {

namespace {

struct Path {
  explicit Path(const char* text) {
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, text);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(text) + 1);
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address = {};
  socklen_t size = 0;
};

}  // namespace

// The name stays, and nobody is behind it any more.
Answer name_socket(Run&, const Step& step) {
  const char* const path = path_of(step, 0);
  const char* const asked = path_of(step, 1);
  const int type = step.one_of<int>(2, {SOCK_STREAM, SOCK_STREAM, SOCK_DGRAM});
  const int asked_type = step.one_of<int>(3, {SOCK_STREAM, SOCK_STREAM, SOCK_DGRAM});
  const bool listens = step.choice(4, 3) != 0;
  const std::string call = fmt::format("type {}: bind('{}'){}; type {}: connect('{}')", type, path,
                                       listens ? ", listen" : "", asked_type, asked);
  if (*path == '\0' || *asked == '\0') return {call, "not called"};  // No names.
  const int socket = ::socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
  const int client = ::socket(AF_UNIX, asked_type | SOCK_NONBLOCK, 0);
  const Path name(path);
  const Path wanted(asked);
  Answer answer = {call, result_of(::bind(socket, name.get(), name.size))};
  if (listens) answer.result += ", " + result_of(::listen(socket, 1));
  answer.result += ", " + result_of(::connect(client, wanted.get(), wanted.size));
  ::close(socket);
  ::close(client);
  return answer;
}

}  // namespace fermata::test
