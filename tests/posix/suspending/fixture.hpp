// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/function_ref.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/drivers/factory.hpp"
#include "fermata/posix/suspending/suspending.hpp"

namespace fermata::test {

/// Cases run on each driver that this build has.
class OnEachDriver : public ::testing::TestWithParam<std::string_view> {
 protected:
  /// Runs `body` as the main coroutine; throws what ended it.
  static void run(detail::FunctionRef<void()> body) {
    Runtime runtime(loop::make_reactor(GetParam()), {.handle_stop_signals = false});
    EXPECT_EQ(runtime.run(body), 0);
  }
};

inline auto every_driver() {
  std::vector<std::string_view> names;
  for (const loop::Driver& each : loop::drivers()) names.push_back(each.name);
  return ::testing::ValuesIn(names);
}

inline std::string driver_name(const ::testing::TestParamInfo<std::string_view>& info) {
  return std::string(info.param);
}

/// What a call has returned, and errno if it has failed.
struct Told {
  long result;
  int error;
  friend bool operator==(const Told&, const Told&) = default;
  friend void PrintTo(const Told& told, std::ostream* out) {
    *out << told.result << " with errno " << told.error;
  }
};

template <class Result>
Told told(Result result) {
  const int error = errno;
  return {static_cast<long>(result), result < 0 ? error : 0};
}

/// A pipe, or a pair of connected sockets.
class Pipe {
 public:
  explicit Pipe(bool is_socket = false) {
    std::array<int, 2> ends{};
    EXPECT_EQ(is_socket ? ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) : ::pipe(ends.data()),
              0);
    reading = ends[0];
    writing = ends[1];
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(reading);
    ::close(writing);
  }

  int reading = -1;
  int writing = -1;
};

/// What one call of read() gives.
inline std::string read_some(int descriptor) {
  std::string buffer(1 << 16, '\0');
  const ssize_t size = ::read(descriptor, buffer.data(), buffer.size());
  EXPECT_GE(size, 0) << "errno " << errno;
  buffer.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return buffer;
}

/// The address of this machine, with a port that the system chooses.
inline sockaddr_in loopback() {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}
inline sockaddr* any(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

}  // namespace fermata::test
