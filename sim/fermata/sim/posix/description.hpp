// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an open descriptor refers to: an open file description, in the words of POSIX. Duplicates of
// a descriptor share one, and with it its flags, its offset and its readiness.
//
// Results  Operations answer as the system does: a size or 0, or a negative errno. None suspends;
//          one that would have to wait answers -EAGAIN.

#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fermata/base/source_place.hpp"
#include "fermata/base/time.hpp"

namespace fermata::sim::detail {

class Description;
class Machine;
class OpenFile;
class Socket;

/// Bits of epoll(7), which poll(2) shares: EPOLLIN, EPOLLOUT, EPOLLRDHUP, EPOLLHUP, EPOLLERR, ...
using Readiness = std::uint32_t;
/// What is told whether it was asked for or not.
inline constexpr Readiness kAlwaysTold = EPOLLHUP | EPOLLERR;

/// What a change is about when nobody knows better.
inline constexpr Readiness kAnything = ~Readiness{0};

/// Somebody who waits for the readiness of a description.
class DescriptionWatcher {
 public:
  /// It may be ready for some of `news` now, and was perhaps before. Must not run user code.
  virtual void look(Readiness news) = 0;
  /// `description` is closed, and does not know this any more. Must not run user code.
  virtual void gone(Description& description) = 0;

 protected:
  ~DescriptionWatcher() = default;
};

class Description : public std::enable_shared_from_this<Description> {
 public:
  /// `kind` is what reports call it: "socket". `serial` is that of no other one of the process.
  Description(Machine& machine, const char* kind, std::uint64_t serial);
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  virtual ~Description();

  [[nodiscard]] Machine& machine() const noexcept { return machine_; }
  [[nodiscard]] const char* kind() const noexcept { return kind_; }
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
  /// Names it in the keys of draws.
  [[nodiscard]] std::uint64_t key() const noexcept { return key_; }
  /// How it is, for people; may be empty.
  [[nodiscard]] virtual std::string state() { return {}; }
  /// Who can make it ready, for people.
  [[nodiscard]] virtual std::string maker() { return "its other end"; }

  /// O_NONBLOCK, and the mode of access.
  int status = 0;

  // --- operations ---

  // Without any pieces they answer 0, or why they are impossible.
  [[nodiscard]] virtual ssize_t read(std::span<const iovec> /*target*/) { return -EINVAL; }
  [[nodiscard]] virtual ssize_t write(std::span<const iovec> /*source*/) { return -EINVAL; }
  /// Bytes that can be read now; -ENOTTY when the question makes no sense.
  [[nodiscard]] virtual int readable_bytes() { return -ENOTTY; }
  /// The longest time that a read, or a write, waits; without one, forever.
  [[nodiscard]] virtual std::optional<Duration> read_limit() const { return std::nullopt; }
  [[nodiscard]] virtual std::optional<Duration> write_limit() const { return std::nullopt; }
  /// Itself, if it is one.
  [[nodiscard]] virtual Socket* as_socket() noexcept { return nullptr; }
  [[nodiscard]] virtual OpenFile* as_file() noexcept { return nullptr; }
  /// Its type and permissions, as fstat() gives them. Without a type: in Linux only.
  [[nodiscard]] virtual mode_t mode() const noexcept { return 0600; }

  // --- readiness ---

  /// Whether it can be watched; a regular file cannot.
  [[nodiscard]] virtual bool can_be_watched() const noexcept { return true; }
  /// All that it is ready for.
  [[nodiscard]] virtual Readiness readiness() = 0;
  /// readiness() as the coroutine of this number sees it.
  [[nodiscard]] virtual Readiness readiness_for(std::uint64_t /*reader*/) { return readiness(); }
  /// `watcher` looks at every change until it is removed, as often as it was added.
  void add(DescriptionWatcher& watcher);
  void remove(const DescriptionWatcher& watcher) noexcept;

 protected:
  /// Something has come, of which `news` tells: it may be ready for that now, or anew.
  void changed(Readiness news = kAnything);
  /// Somebody begins to wait for it, or nobody does any more.
  virtual void watched(bool /*value*/) noexcept {}

 private:
  Machine& machine_;
  const char* kind_;
  std::uint64_t serial_;
  std::uint64_t key_;
  std::vector<DescriptionWatcher*> watchers_;
};

/// How many bytes the pieces have together.
[[nodiscard]] std::size_t size_of(std::span<const iovec> pieces) noexcept;
/// Copies bytes into the pieces, in order. REQUIRES: they have room for all.
void scatter(std::span<const std::byte> bytes, std::span<const iovec> pieces) noexcept;
/// Takes so many bytes from the front. REQUIRES: there are that many.
void drop_front(std::vector<iovec>& pieces, std::size_t bytes) noexcept;
/// The bytes of the pieces, in one.
[[nodiscard]] std::vector<std::byte> gather(std::span<const iovec> pieces);

}  // namespace fermata::sim::detail
