// SPDX-License-Identifier: Apache-2.0
#include "examples/echo/echo.hpp"

#include <array>
#include <span>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/runtime.hpp"
#include "properties/suite/programs.hpp"

namespace fermata::properties::suite {
namespace {

const Address kServer{"127.0.0.1", 7777};
constexpr std::size_t kBytes = 600;

std::byte byte_at(std::size_t index) { return static_cast<std::byte>(index * 7 + index / 251); }

void send_everything(TcpStream& stream) {
  std::vector<std::byte> bytes(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) bytes[i] = byte_at(i);
  stream.write(bytes);
  stream.shutdown_write();
}

/// Everything comes back, unless the connection breaks, which the caller is told by an exception.
void expect_everything(sim::World& world, TcpStream& stream) {
  std::array<std::byte, 256> buffer{};
  std::size_t returned = 0;
  while (const std::size_t count = stream.read(buffer)) {
    for (const std::byte byte : std::span(buffer).first(count)) {
      if (returned == kBytes || byte != byte_at(returned)) {
        world.fail(sim::Verdict::Safety, "another byte came back than was sent");
      }
      ++returned;
    }
  }
  if (returned != kBytes) {
    world.fail(sim::Verdict::Safety, "the stream ended before everything had come back");
  }
}

void converse(sim::World& world) {
  try {
    auto stream = TcpStream::connect(kServer, {.timeout = std::chrono::seconds(5)});
    const auto sender = spawn("sender", [&] {
      try {
        send_everything(stream);
      } catch (const InputOutputError&) {
      }
    });
    try {
      expect_everything(world, stream);
    } catch (const InputOutputError&) {
    }
    stream.close();
    await(sender);
  } catch (const InputOutputError&) {
  } catch (const Timeout&) {
  }
}

}  // namespace

void echo_under_faults(sim::World& world) {
  auto listener = TcpListener::bind(kServer);
  const auto server = spawn("server", [&] { ::echo::serve(listener); });
  const auto first = spawn("first", [&] { converse(world); });
  const auto second = spawn("second", [&] { converse(world); });
  await(first);
  await(second);
  listener.close();
  await(server);
}

}  // namespace fermata::properties::suite
