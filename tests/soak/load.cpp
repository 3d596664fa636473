// SPDX-License-Identifier: Apache-2.0
#include "tests/soak/load.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "fermata/io/exec.hpp"

namespace fermata::soak {

namespace {

using namespace std::chrono_literals;

constexpr int kClients = 6;  // Of each kind.
constexpr int kFileWorkers = 3;
constexpr int kParents = 2;
constexpr std::size_t kChunkMax = 24'000;
constexpr std::size_t kFileMax = 64'000;

/// The byte at `at` of everything that is sent or written.
std::byte pattern(std::uint64_t at) { return static_cast<std::byte>(at * 7 + (at >> 8) * 31); }

std::string patterned(std::uint64_t at, std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(pattern(at + i));
  return text;
}

std::span<std::byte> bytes_of(std::string& text) { return std::as_writable_bytes(std::span(text)); }

}  // namespace

Load::Load(std::string folder)
    : folder_(std::move(folder)),
      socket_(folder_ + "/echo"),
      echoes_(PipeListener::bind(socket_)),
      proxy_(TcpListener::bind({"127.0.0.1", 0})),
      watcher_(folder_, {.recursive = true, .extensions = {"soak"}}) {}

void Load::start() {
  servers_.push_back(spawn("echoes", [this] { serve_echoes(); }));
  servers_.push_back(spawn("proxy", [this] { serve_proxy(); }));
  servers_.push_back(spawn("watch", [this] { watch_files(); }));
  for (int i = 0; i < kClients; ++i) {
    users_.push_back(
        spawn("direct", [this] { be_client([this] { return PipeStream::connect(socket_); }); }));
    users_.push_back(spawn("proxied", [this] {
      be_client([this] { return TcpStream::connect(proxy_.local_address()); });
    }));
  }
  for (int i = 0; i < kFileWorkers; ++i) {
    users_.push_back(spawn("files", [this, i] { use_files(i); }));
  }
  for (int i = 0; i < kParents; ++i) {
    users_.push_back(spawn("children", [this] { use_children(); }));
  }
}

void Load::stop() {
  stopping_ = true;
  for (Coroutine<>& user : users_) await(user);
  proxy_.close();
  echoes_.close();
  watcher_.close();
  for (Coroutine<>& server : servers_) await(server);
  while (sessions_ > 0) delay(1ms);
}

bool Load::cuts_now(std::uint64_t one_in) {
  if (random(one_in) != 0) return false;
  ++counts_.cuts;
  return true;
}

// --- servers ---

template <class Stream>
void Load::echo(Stream& peer) {
  std::array<std::byte, 4096> buffer;
  while (const std::size_t size = peer.read(buffer)) {
    if (cuts_now(2000)) return peer.close();
    peer.write(std::span(buffer).first(size));
  }
}

void Load::serve_echoes() {
  while (auto accepted = echoes_.accept()) {
    ++sessions_;
    spawn("echo", [this, peer = std::move(*accepted)]() mutable {
      try {
        echo(peer);
      } catch (const InputOutputError&) {  // The client has cut it.
      }
      --sessions_;
    });
  }
}

void Load::serve_proxy() {
  while (auto accepted = proxy_.accept()) {
    ++sessions_;
    spawn("relay", [this, front = std::move(*accepted)]() mutable {
      relay(front);
      --sessions_;
    });
  }
}

void Load::relay(TcpStream& front) {
  try {
    PipeStream back = PipeStream::connect(socket_);
    auto there = spawn("there", [&] { pump(front, back); });
    pump(back, front);
    await(there);
  } catch (const InputOutputError&) {
  }
}

/// Until one of them ends; then both do.
template <class Stream>
void Load::pump(Stream& from, auto& to) {
  std::array<std::byte, 3000> buffer;
  try {
    while (const std::size_t size = from.read(buffer)) {
      if (cuts_now(4000)) break;
      to.write(std::span(buffer).first(size));
    }
  } catch (const InputOutputError&) {
  }
  from.close();
  to.close();
}

// --- clients ---

template <class Connect>
void Load::be_client(Connect connect) {
  while (!stopping_) {
    try {
      auto peer = connect();
      ++counts_.connections;
      converse(peer);
    } catch (const InputOutputError&) {
      ++counts_.broken;
    }
    delay(std::chrono::microseconds(random(30'000)));
  }
}

template <class Stream>
void Load::converse(Stream& peer) {
  std::uint64_t at = random(1'000'000);
  for (std::uint64_t left = random(40) + 1; left > 0 && !stopping_; --left) {
    if (!exchange(peer, at, static_cast<std::size_t>(random(kChunkMax)) + 1)) return;
  }
}

/// Returns whether to go on.
template <class Stream>
bool Load::exchange(Stream& peer, std::uint64_t& at, std::size_t size) {
  peer.write(patterned(at, size));
  if (random(20) == 0) return false;  // It is cut with bytes on their way.
  std::string buffer(size, '\0');
  for (const std::uint64_t end = at + size; at < end;) {
    const std::size_t got = peer.read(bytes_of(buffer).first(end - at));
    if (got == 0) {
      ++counts_.broken;
      return false;
    }
    require(buffer.compare(0, got, patterned(at, got)) == 0);
    at += got;
    counts_.bytes += got;
  }
  return true;
}

// --- files ---

void Load::use_files(int worker) {
  const std::string mine = folder_ + "/" + std::to_string(worker);
  fs::make_directory(mine);
  while (!stopping_) {
    const std::string path = mine + "/" + std::to_string(random(10)) + ".soak";
    const std::string moved = path + ".moved.soak";
    const std::string text = patterned(random(1'000'000), random(kFileMax));
    fs::write_file(path, text);
    require(fs::read_file(path) == text);
    fs::rename(path, moved);
    require(fs::status(moved).size == text.size());
    fs::remove(moved);
    ++counts_.files;
    delay(std::chrono::microseconds(random(5'000)));
  }
  fs::remove_directory(mine);
}

void Load::watch_files() {
  while (watcher_.next()) ++counts_.events;
}

// --- children ---

void Load::use_children() {
  using Use = void (Load::*)();
  constexpr std::array<Use, 4> kUses = {&Load::have_it_copied, &Load::ask_a_shell,
                                        &Load::kill_a_child, &Load::start_what_is_not_there};
  while (!stopping_) {
    (this->*kUses[random(kUses.size())])();
    ++counts_.children;
    delay(std::chrono::microseconds(random(20'000)));
  }
}

void Load::have_it_copied() {
  auto child = Process::spawn({.program = "cat", .input = Stdio::Pipe, .output = Stdio::Pipe});
  const std::string text = patterned(random(1'000'000), random(kFileMax));
  auto writer = spawn("writer", [&] {
    child.input().write(text);
    child.input().close();
  });
  std::string copy;
  std::array<std::byte, 4096> buffer;
  while (const std::size_t size = child.output().read(buffer)) {
    copy.append(reinterpret_cast<const char*>(buffer.data()), size);
  }
  await(writer);
  require(copy == text);
  require(child.wait().success());
}

void Load::ask_a_shell() {
  const int code = static_cast<int>(random(100));
  const ExecResult result = exec(fmt::format("echo says {}; exit {}", code, code));
  require(result.text == fmt::format("says {}", code));
  require(result.exit.exit_code() == code);
}

void Load::kill_a_child() {
  auto child = Process::spawn({.program = "sleep", .arguments = {"600"}});
  require(child.kill(SIGKILL));
  require(child.wait().signal() == SIGKILL);
}

void Load::start_what_is_not_there() {
  try {
    const Process child = Process::spawn({.program = folder_ + "/none"});
    require(false);
  } catch (const InputOutputError& error) {
    require(error.code() == ENOENT);
  }
}

}  // namespace fermata::soak
