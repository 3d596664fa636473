// SPDX-License-Identifier: Apache-2.0
#pragma once

// Servers and those who keep them busy, in one program: echoes over a Unix socket, a proxy in front
// of them over TCP, clients of both, files that are written, read, renamed and removed, somebody
// who watches them, and child processes that copy, exit and are killed. Connections are cut at
// random by everybody. Every byte is checked.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fermata/io/file_watcher.hpp"
#include "fermata/runtime.hpp"

namespace fermata::soak {

struct Counts {
  std::uint64_t connections = 0;
  std::uint64_t bytes = 0;   // Echoed and checked.
  std::uint64_t cuts = 0;    // Connections that a server gave up.
  std::uint64_t broken = 0;  // Connections that ended before their client wanted it.
  std::uint64_t files = 0;   // Written, checked and removed.
  std::uint64_t events = 0;  // Of the watch.
  std::uint64_t children = 0;
  std::uint64_t wrong = 0;  // Bytes, files or exits that were not what they should be.
};

class Load {
 public:
  /// In `folder`, which is empty.
  explicit Load(std::string folder);
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// Begins; suspends.
  void start();
  /// Ends all of it and waits for that.
  void stop();

  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  template <class Stream>
  void echo(Stream& peer);
  void serve_echoes();
  void serve_proxy();
  void relay(TcpStream& front);
  template <class Stream>
  void pump(Stream& from, auto& to);
  template <class Connect>
  void be_client(Connect connect);
  template <class Stream>
  void converse(Stream& peer);
  template <class Stream>
  bool exchange(Stream& peer, std::uint64_t& at, std::size_t size);
  void use_files(int worker);
  void watch_files();
  void use_children();
  void have_it_copied();
  void ask_a_shell();
  void kill_a_child();
  void start_what_is_not_there();
  void require(bool right) {
    if (!right) ++counts_.wrong;
  }
  [[nodiscard]] bool cuts_now(std::uint64_t one_in);

  std::string folder_;
  std::string socket_;
  bool stopping_ = false;
  Counts counts_;
  PipeListener echoes_;
  TcpListener proxy_;
  FileWatcher watcher_;
  std::vector<Coroutine<>> users_;
  std::vector<Coroutine<>> servers_;
  std::uint64_t sessions_ = 0;
};

}  // namespace fermata::soak
