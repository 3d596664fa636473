// SPDX-License-Identifier: Apache-2.0
#pragma once

// The descriptors of a simulated process: numbers for what is open.
//
// Numbers  The lowest free one comes next. 0, 1 and 2 are the standard streams.
// Limit    As many as Linux gives a process: EMFILE beyond it, and when the fault
//          out-of-descriptors strikes.

#include <sys/resource.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fermata/sim/posix/description.hpp"

namespace fermata::sim::detail {

class DescriptorTable final {
 public:
  static constexpr std::size_t kLimit = 1024;

  explicit DescriptorTable(Machine& machine);
  DescriptorTable(const DescriptorTable&) = delete;
  DescriptorTable& operator=(const DescriptorTable&) = delete;

  /// Whether its end at the end of the run is the program's fault, or the system's business.
  enum class Owner : std::uint8_t { Program, System };

  /// What is told about an open descriptor.
  struct Entry {
    std::shared_ptr<Description> description;  // Null when the number is free.
    bool close_on_exec = false;
    Owner owner = Owner::System;
    SourcePlace made_at;
  };

  /// Null when it is not open.
  [[nodiscard]] Description* find(int descriptor) const noexcept;
  /// find(), and the step that runs uses what is found.
  [[nodiscard]] Description* use(int descriptor) const;
  /// The step that runs looks at `description`.
  void looks_at(const Description& description) const;
  /// Where it was opened. REQUIRES: it is open.
  [[nodiscard]] const Entry& entry(int descriptor) const noexcept;
  [[nodiscard]] Entry& entry(int descriptor) noexcept;

  /// Whether there is no descriptor left for `what`: "socket".
  [[nodiscard]] bool is_full(const char* what);
  /// The number that the next description has.
  [[nodiscard]] std::uint64_t next_serial() noexcept {
    is_used_ = true;
    return ++descriptions_made_;
  }
  /// Opens it under the lowest free number from `least` on; -EMFILE without one.
  int open(Entry entry, int least = 0);
  /// Opens it as this number, and closes what that was. Returns an errno value.
  int open_as(int descriptor, Entry entry);
  /// Returns an errno value.
  int close(int descriptor);

  /// Numbers from here on are not given.
  [[nodiscard]] std::size_t limit() const noexcept;
  /// Numbers from `most` on are not given any more; it may change. kLimit is the limit as well.
  void limit_by(const rlim_t& most) noexcept { most_ = &most; }
  /// From now on nothing finds a free descriptor, or as before.
  void exhaust(bool value) noexcept {
    is_used_ = true;
    exhausted_ = value;
  }
  /// The run is over: what is open is closed, and what the program had to close is described by a
  /// line in `leaks`.
  void end_run(std::vector<std::string>& leaks);

 private:
  void open_standard_streams();

  Machine& machine_;
  std::vector<Entry> entries_;  // By number.
  std::uint64_t descriptions_made_ = 0;
  bool exhausted_ = false;
  mutable bool is_used_ = false;  // It may differ from one with unused standard streams.
  const rlim_t* most_ = nullptr;
};

}  // namespace fermata::sim::detail
