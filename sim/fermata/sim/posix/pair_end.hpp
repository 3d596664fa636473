// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/net/pipe.hpp"
#include "fermata/sim/posix/socket.hpp"
#include "fermata/sim/tape/decisions.hpp"

namespace fermata::sim::detail {

/// An end of a pair of connected sockets in memory, for a program that tests what it does with
/// descriptors: all faults strike it, also those that no pair of the system meets.
class PairEnd final : public Description {
 public:
  PairEnd(Machine& machine, std::uint64_t serial);
  ~PairEnd() override;

  /// They are the ends of one pair. `own` and `there` are their descriptors, for people.
  void join(PairEnd& peer, int own, int there) noexcept;
  /// Nothing more is written here.
  void shut();
  [[nodiscard]] int take_error() noexcept { return std::exchange(error_, 0); }

  [[nodiscard]] std::string state() override;
  [[nodiscard]] std::string maker() override;
  [[nodiscard]] ssize_t read(std::span<const iovec> target) override;
  [[nodiscard]] ssize_t write(std::span<const iovec> source) override;
  [[nodiscard]] Readiness readiness() override;

 private:
  [[nodiscard]] ssize_t write_stream(std::span<const std::byte> data);
  /// `does` says in reports what the fault does, with {} for the file.
  [[nodiscard]] bool strikes(Fault fault, const char* draw, const char* does);
  [[nodiscard]] std::string text(const char* does) const;
  /// How many of `whole` bytes a read gives, or a write takes, which may be none.
  [[nodiscard]] std::size_t drawn_read(std::size_t whole);
  [[nodiscard]] std::size_t drawn_write(std::size_t whole);
  void break_down();
  /// Both ends are one thing that coroutines share.
  void use_peer();

  int descriptor_ = -1;
  int peer_descriptor_ = -1;
  Pipe input_;
  PairEnd* peer_ = nullptr;  // Null when it was closed.
  bool shut_ = false;
  bool broken_ = false;
  int error_ = 0;
};

/// A socket whose connect was refused, or a regular file: what a program may find behind a number.
class RefusedFile final : public Description {
 public:
  RefusedFile(Machine& machine, std::uint64_t serial);
  [[nodiscard]] int take_error() noexcept { return std::exchange(error_, 0); }
  [[nodiscard]] std::string state() override { return "refused"; }
  [[nodiscard]] ssize_t read(std::span<const iovec> target) override;
  [[nodiscard]] ssize_t write(std::span<const iovec> source) override;
  [[nodiscard]] Readiness readiness() override { return EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP; }

 private:
  int error_ = ECONNREFUSED;
};

/// A file without a name, which is read behind what was written.
class RegularFile final : public Description {
 public:
  RegularFile(Machine& machine, std::uint64_t serial)
      : Description(machine, "regular file", serial) {}
  [[nodiscard]] std::string state() override { return "a regular file"; }
  [[nodiscard]] ssize_t read(std::span<const iovec>) override { return 0; }
  [[nodiscard]] ssize_t write(std::span<const iovec> source) override {
    return static_cast<ssize_t>(size_of(source));
  }
  [[nodiscard]] bool can_be_watched() const noexcept override { return false; }
  [[nodiscard]] Readiness readiness() override { return EPOLLIN | EPOLLOUT; }
};

}  // namespace fermata::sim::detail
