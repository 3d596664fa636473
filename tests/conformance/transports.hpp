// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kinds of connections that bodies about streams and listeners run on, each on every reactor.

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "fermata/core/spawn.hpp"
#include "fermata/io/pipe.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/arms.hpp"

namespace fermata::conformance {

struct OverTcp {
  using Stream = TcpStream;
  using Listener = TcpListener;
  using Place = Address;

  static Listener listen(const ListenOptions& options = {}) {
    return Listener::bind({"127.0.0.1", 0}, options);
  }
  static Place place_of(const Listener& listener) { return listener.local_address(); }
};

struct OverPipe {
  using Stream = PipeStream;
  using Place = std::string;

  /// Remembers its path.
  struct Listener : PipeListener {
    Listener(const std::string& at, const ListenOptions& options)
        : PipeListener(bind(at, options)), path(at) {}
    std::string path;
  };

  static Listener listen(const ListenOptions& options = {}) { return {fresh_path(), options}; }
  static Place place_of(const Listener& listener) { return listener.path; }

  /// A path that nobody else uses.
  static std::string fresh_path() {
    static int number = 0;
    return ::testing::TempDir() + "fermata-" + std::to_string(::getpid()) + "-" +
           std::to_string(++number);
  }
};

/// Two ends of one connection.
template <class T>
struct Connected {
  Connected() {
    auto listener = T::listen();
    auto connecting =
        spawn("connect", [place = T::place_of(listener)] { return T::Stream::connect(place); });
    server.emplace(std::move(*listener.accept()));
    client.emplace(await(std::move(connecting)));
  }
  std::optional<typename T::Stream> server;
  std::optional<typename T::Stream> client;
};

template <class Arm, class T>
struct On : Arm {
  using Transport = T;
};

using Transports = ::testing::Types<On<UvArm, OverTcp>, On<SimArm, OverTcp>, On<UvArm, OverPipe>,
                                    On<SimArm, OverPipe>, On<UvReorderArm, OverTcp>,
                                    On<UvReorderArm, OverPipe>, On<PollArm, OverTcp>
#ifdef FERMATA_HAS_URING
                                    ,
                                    On<UringArm, OverTcp>
#endif
                                    >;

}  // namespace fermata::conformance
