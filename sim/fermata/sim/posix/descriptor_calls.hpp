// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a program does itself with simulated descriptors: fermata::descriptor_calls(). What it opens
// here are pairs of connected sockets in memory: what is written at one end has arrived at the
// other one.
//
// Faults   short-read, short-write (which may take nothing: EAGAIN), interrupted (EINTR), reset (in
//          a write: both ends get ECONNRESET, and what was not read is lost), out-of-descriptors.

#include "fermata/reactor/descriptor_calls.hpp"
#include "fermata/sim/posix/descriptor_table.hpp"

namespace fermata::sim::detail {

class SimDescriptorCalls final : public backend::DescriptorCalls {
 public:
  SimDescriptorCalls(Machine& machine, DescriptorTable& table) noexcept
      : machine_(machine), table_(table) {}

  DescriptorPair open_pair(const SourcePlace& place) override;
  int open_refused(const SourcePlace& place) override;
  int open_file(const SourcePlace& place) override;
  DescriptorTransfer read(int descriptor, std::span<std::byte> buffer) override;
  DescriptorTransfer write(int descriptor, std::span<const std::byte> data) override;
  int shut_down_writing(int descriptor) override;
  int close(int descriptor) override { return table_.close(descriptor); }
  int take_error(int descriptor) override;
  [[nodiscard]] bool is_open(int descriptor) const noexcept override {
    return table_.find(descriptor) != nullptr;
  }
  void exhaust(bool value) override { table_.exhaust(value); }

 private:
  void require_room(const char* operation, const char* what);
  template <class File>
  File& open(const SourcePlace& place, int& descriptor);

  Machine& machine_;
  DescriptorTable& table_;
};

}  // namespace fermata::sim::detail
