// SPDX-License-Identifier: Apache-2.0
#pragma once

// What happens to a call of a program that a disk carries out: how long it takes, and what goes
// wrong.

#include <cstddef>
#include <cstdint>
#include <string>

#include "fermata/base/function_ref.hpp"
#include "fermata/base/time.hpp"
#include "fermata/sim/machine/fault.hpp"

namespace fermata::sim::detail {

class Machine;

/// A call that a disk carries out.
struct DiskCall {
  /// What a call does and where, in the keys of draws; `name` is "write", `path` "settings".
  [[nodiscard]] static std::uint64_t key_of(const Machine& machine, const char* name,
                                            const std::string& path);

  std::uint64_t key;
  fermata::detail::FunctionRef<std::string()> text;  // "the write to 'settings'", for people.
};

class DiskFaults {
 public:
  explicit DiskFaults(Machine& machine) noexcept : machine_(machine) {}

  /// The time until it takes effect.
  [[nodiscard]] Duration latency(const DiskCall& call);
  /// Whether a call that is cancelled meanwhile has no effect.
  [[nodiscard]] bool is_withdrawn(const DiskCall& call);
  [[nodiscard]] bool finds_no_space(const DiskCall& call);
  [[nodiscard]] bool has_error(const DiskCall& call);
  /// How much of `size` is moved; `fault` is ShortRead or ShortWrite.
  [[nodiscard]] std::size_t shortened(const DiskCall& call, std::size_t size, Fault fault);
  /// Whether the answer to a call that a server has carried out is lost.
  [[nodiscard]] bool loses_reply(const DiskCall& call);
  /// Whether a shared folder shows what it was, or an open file in it has become stale.
  [[nodiscard]] bool is_stale(const DiskCall& call, const char* what);
  /// How a sync fails.
  enum class SyncFailure : std::uint8_t { None, MayBeTriedAgain, GivesUp };
  [[nodiscard]] SyncFailure sync_failure(const DiskCall& call);

 private:
  Machine& machine_;
};

}  // namespace fermata::sim::detail
