// SPDX-License-Identifier: Apache-2.0

// `example_tcp_proxy`: a server that echoes, a proxy before it and a client, all on this machine.

#include <cstdio>
#include <fermata/uv/reactor.hpp>
#include <string>

#include "examples/tcp_proxy/tcp_proxy.hpp"

int main() {
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([] {
    auto echo = fermata::TcpListener::bind({"127.0.0.1", 0});
    auto front = fermata::TcpListener::bind({"127.0.0.1", 0});
    fermata::spawn("echo", [&] {
      auto peer = echo.accept();
      proxy::relay(*peer, *peer);
    });
    fermata::spawn("proxy", [&] { proxy::serve(front, echo.local_address()); });

    auto stream = fermata::TcpStream::connect(front.local_address());
    stream.write("hello through the proxy");
    stream.shutdown_write();
    std::string answer(64, '\0');
    std::size_t size = 0;
    while (const std::size_t part =
               stream.read(std::as_writable_bytes(std::span(answer).subspan(size)))) {
      size += part;
    }
    std::printf("%s\n", answer.substr(0, size).c_str());
    front.close();
  });
}
