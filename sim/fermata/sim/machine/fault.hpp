// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the simulated world may do to a program, beyond what happens on an idle machine with a
// healthy network.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fermata::sim {

enum class Fault : std::uint8_t {
  Delay,              // a segment takes longer than the link's least latency
  ShortRead,          // a read returns fewer bytes than there are
  ShortWrite,         // a write is accepted in parts, a datagram only after a wait
  Reset,              // a connection breaks down on both sides
  Refused,            // a connect is refused though somebody listens
  Hung,               // a connect gets no answer until the system gives up
  TimerLate,          // all due timers fire later than their deadlines
  SlowClose,          // a handle's close is acknowledged late
  SlowDisk,           // a file operation takes longer than usual
  DiskFull,           // a write, or the making of a file or directory, finds no space
  DiskError,          // a read, write or sync of a file fails; the sync may give its writes up
  DnsFailure,         // the name service does not answer
  DnsDelay,           // it answers late
  DatagramLoss,       // a datagram never arrives
  DatagramDuplicate,  // a datagram arrives a second time, later
  DatagramReorder,    // a datagram takes longer, and others overtake it
  Clog,               // a link keeps for a while what is sent on it
  Partition,          // two machines, or one and all others, cannot reach each other for a while
  Crash,              // a machine that may crash does so, and comes up again
  Pause,              // a machine that may pause gets no processor time for a while
  Clock,              // a machine's wall clock is wrong, and its clock runs too fast or too slow
  Point,              // what the program calls a fault: FERMATA_FAULT
  WatchDelay,         // a change of a file is told much later
  WatchOverflow,      // it is lost, and a rescan asked for
  OutOfDescriptors,   // a connection, pipe or file finds no descriptor; an accept tries again later
  SpawnFailure,       // the system has no room for another process
  SlowExit,           // a process's end is noticed late
  Interrupted,        // a read, write or wait for descriptors ends with EINTR, having done nothing
  SpuriousReadiness,  // a descriptor is told to be ready and may not be
  Busy,               // a coroutine computes: time passes before the next one has control
  ThreadCreationFailure,  // a machine that may refuse threads does so: pthread_create gives EAGAIN
  ClockStep,              // a machine that may step its wall clock sets it, forwards or backwards
  LostReply,              // a call on a shared folder is made twice, since its answer was lost
  StaleFolder,            // a machine sees a shared folder as it was, or loses an open file of it
};
inline constexpr std::size_t kFaultCount = 34;

/// "delay", "short-read", ...
[[nodiscard]] const char* to_string(Fault fault) noexcept;

/// A set of kinds.
class FaultSet {
 public:
  static constexpr FaultSet none() noexcept { return FaultSet(0); }
  static constexpr FaultSet all() noexcept {
    return FaultSet((std::uint64_t{1} << kFaultCount) - 1);
  }

  /// "all", "none" or a list of names with commas between; after "all", "-name" leaves one out, as
  /// in "all,-busy". Throws UsageError naming what it cannot read and the names there are.
  [[nodiscard]] static FaultSet parse(std::string_view text);

  [[nodiscard]] constexpr bool has(Fault fault) const noexcept { return (bits_ & bit(fault)) != 0; }
  constexpr void add(Fault fault) noexcept { bits_ |= bit(fault); }
  constexpr void remove(Fault fault) noexcept { bits_ &= ~bit(fault); }
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }

  /// Visits each kind that it has, in the order of their declaration.
  template <class Visit>
  constexpr void for_each(Visit visit) const {
    for (std::uint64_t left = bits_; left != 0; left &= left - 1) {
      visit(static_cast<Fault>(std::countr_zero(left)));
    }
  }

  friend constexpr bool operator==(FaultSet, FaultSet) = default;

 private:
  static constexpr std::uint64_t bit(Fault fault) noexcept {
    return std::uint64_t{1} << static_cast<unsigned>(fault);
  }
  constexpr explicit FaultSet(std::uint64_t bits) noexcept : bits_(bits) {}
  std::uint64_t bits_;
};

/// How often each kind fired, indexed by Fault.
using FaultCounts = std::array<std::uint64_t, kFaultCount>;

}  // namespace fermata::sim
