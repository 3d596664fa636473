// SPDX-License-Identifier: Apache-2.0

// Readiness and I/O (Z-IO).

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/io/descriptor.hpp"
#include "fermata/runtime.hpp"
#include "properties/subjects/disk.hpp"
#include "properties/subjects/fake_poll.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Address kPlace{"127.0.0.1", 7777};

struct Connection {
  TcpStream client, server;
};

/// Nothing when the network does not want it.
std::unique_ptr<Connection> connect() {
  auto listener = TcpListener::bind(kPlace);
  try {
    auto client = TcpStream::connect(kPlace);
    return std::make_unique<Connection>(Connection{std::move(client), *listener.accept()});
  } catch (const InputOutputError&) {
    return nullptr;
  }
}

// A reader and a writer at one descriptor, whose peer resets it.
FERMATA_WORKLOAD(writer_at_a_reset, "Z-IO-01", 1, "WAKE", "POLL-03") {
  FakePolls polls(current_runtime());
  const auto poll = polls.open_fake(5);
  std::vector<Coroutine<>> waiters;
  for (const PollMask mask : {PollMask::Readable | PollMask::Disconnect, PollMask::Writable}) {
    waiters.push_back(
        spawn(std::string(mask == PollMask::Writable ? "writer" : "reader"), [&, mask] {
          backend::PollProxy proxy(*poll, mask);
          wait(proxy);
        }));
  }
  await(spawn("peer", [&] {
    while (!sleeps(waiters[0]) || !sleeps(waiters[1])) delay(milliseconds(1));
    poll->become(PollMask::Disconnect);
    for (const auto& waiter : waiters) {
      if (sleeps(waiter)) {
        complain(world,
                 "WAKE (POLL-03): the peer has reset, and the " + waiter->label() + " sleeps on");
      }
    }
  }));
  for (const auto& waiter : waiters) await(waiter);
  poll->close();
}

// Two write at once, more than the window holds; who was told of success counts on it.
FERMATA_WORKLOAD(two_writers, "Z-IO-02", 2, "UAF", "VAL", "IO-02") {
  const auto connection = connect();
  if (!connection) return;
  constexpr std::size_t kSize = 100'000;
  std::size_t written = 0;
  std::size_t received = 0;
  bool broken = false;
  const auto attempt = [&](auto action) {
    try {
      action();
    } catch (const InputOutputError&) {
      broken = true;
    }
  };
  const auto reader = spawn("reader", [&] {
    attempt([&] {
      std::vector<std::byte> buffer(kSize);
      while (const std::size_t count = connection->server.read(buffer)) received += count;
    });
  });
  std::vector<Coroutine<>> writers;
  for (const int wait_ms : {0, 10}) {
    writers.push_back(spawn("writer", [&, wait_ms] {
      delay(milliseconds(wait_ms));
      attempt([&] {
        connection->client.write(std::vector<std::byte>(kSize));
        written += kSize;
      });
    }));
  }
  for (const auto& writer : writers) await(writer);
  connection->client.close();
  await(reader);
  if (!broken && received < written) {
    complain(world, "VAL (IO-02): " + std::to_string(written) +
                        " bytes were reported as written, " + std::to_string(received) + " came");
  }
}

// One is parked in a read; another one closes the stream.
FERMATA_WORKLOAD(closed_under_a_reader, "Z-IO-03", 1, "WAKE", "UAF", "IO-06") {
  const auto connection = connect();
  if (!connection) return;
  const auto reader = spawn("reader", [&] {
    std::byte one;
    try {
      static_cast<void>(connection->client.read({&one, 1}));
    } catch (const InputOutputError&) {
    }
  });
  await(spawn("closer", [&] {
    suspend();
    connection->client.close();
    if (sleeps(reader)) {
      complain(world, "WAKE (IO-06): the stream is closed, and its reader sleeps on");
    }
  }));
  await(reader);
}

// A read that is given up before the disk has answered.
FERMATA_WORKLOAD(impatient_read, "Z-IO-04", 2, "UAF", "IO-08") {
  File file = properties::open("/file", OpenMode::updating());
  const std::vector<std::byte> full(100, std::byte{1});
  insist([&] { file.write(full); });
  std::vector<std::byte> buffer(100);
  std::vector<std::byte> as_it_was;
  await(spawn("reader", [&] {
    try {
      static_cast<void>(file.read_at(0, buffer, {.timeout = milliseconds(1)}));
    } catch (const InputOutputError&) {
    } catch (const Timeout&) {
      as_it_was = buffer;
    }
  }));
  delay(seconds(10));
  if (!as_it_was.empty() && buffer != as_it_was) {
    complain(world, "UAF (IO-08): the disk wrote into the buffer of a reader that had left");
  }
}

// Two wait for the same readiness, one of them for more; that one is cancelled.
FERMATA_WORKLOAD(narrowed_mask, "Z-IO-05", 2, "WAKE", "STOP", "POLL-01", "POLL-04") {
  FakePolls polls(current_runtime());
  const auto poll = polls.open_fake(5);
  const auto waiter = [&](const char* name, PollMask mask) {
    return spawn(std::string(name), [&, mask] {
      backend::PollProxy proxy(*poll, mask);
      wait(proxy);
    });
  };
  const auto one = waiter("one", PollMask::Readable);
  const auto other = waiter("other", PollMask::Readable | PollMask::Disconnect);
  const auto source = spawn("source", [&] {
    suspend();
    const bool waits = sleeps(one);
    poll->become(PollMask::Readable);
    if (waits && sleeps(one)) {
      complain(world, "WAKE (POLL-04): data has come, and a reader sleeps on");
    }
  });
  const auto canceller = spawn("canceller", [&] {
    suspend();
    suspend();
    other.cancel();
  });
  await(source);
  await(canceller);
  poll->close();
  for (const auto& each : {one, other}) {
    try {
      cancelled_or_done(each);
    } catch (const PollError&) {
    }
  }
}

/// Two connected descriptors; none when the system has none left.
std::optional<DescriptorPair> open_pair() {
  try {
    return descriptor_calls().open_pair();
  } catch (const InputOutputError&) {
    return std::nullopt;
  }
}

void close_pair(const DescriptorPair& pair) {
  descriptor_calls().close(pair.first);
  descriptor_calls().close(pair.second);
}

Coroutine<> wait_at(const char* name, int descriptor, PollMask mask) {
  return spawn(std::string(name), [descriptor, mask] { Descriptor(descriptor).wait(mask); });
}

// One waits until a descriptor is readable, then another one until it is writable, as it is.
FERMATA_WORKLOAD(second_kind_of_readiness, "Z-IO-06", 1, "WAKE", "POLL-03", "POLL-04") {
  const auto pair = open_pair();
  if (!pair) return;
  const auto reader = wait_at("reader", pair->first, PollMask::Readable);
  while (!sleeps(reader) && !reader->is_closed()) suspend();
  const auto writer = wait_at("writer", pair->first, PollMask::Writable);
  delay(seconds(1));
  if (sleeps(writer)) {
    complain(world, "WAKE (POLL-04): there is room, and a writer sleeps on");
  }
  close_pair(*pair);
  await(reader);
  await(writer);
}

// A descriptor is closed under somebody who waits, and its number is used again.
FERMATA_WORKLOAD(number_used_again, "Z-IO-07", 1, "WAKE", "ONCE", "POLL-03") {
  const auto old = open_pair();
  if (!old) return;
  const auto reader = wait_at("reader", old->first, PollMask::Readable);
  while (!sleeps(reader) && !reader->is_closed()) suspend();
  close_pair(*old);
  const auto next = open_pair();
  delay(seconds(1));
  if (sleeps(reader)) {
    complain(world, "WAKE (POLL-03): its descriptor is closed, and a reader sleeps on");
  }
  if (next) close_pair(*next);
  await(reader);
}

// Two watch a process that a third one has started.
FERMATA_WORKLOAD(two_watchers, "Z-IO-05b", 1, "VAL", "PROC-01", "PROC-03") {
  world.program("child", sim::ScriptedProgram().takes(seconds(10)).exits(3));
  const Process child = insist([] { return Process::spawn({.program = "child"}); });
  std::vector<Coroutine<>> watchers;
  for (int i = 0; i < 2; ++i) {
    watchers.push_back(spawn("watcher", [&] {
      const ProcessExit exit = Process::watch(child.pid()).wait();
      if (exit.exit_code() != 3) {
        complain(world, "VAL (PROC-03): a process has exited with 3, a watcher got " + exit.text());
      }
    }));
  }
  for (const auto& watcher : watchers) await(watcher);
}

}  // namespace

}  // namespace fermata::properties::zoo
