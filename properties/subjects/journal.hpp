// SPDX-License-Identifier: Apache-2.0
#pragma once

// A program of the kind that must survive its machine: it keeps a journal on its disk and serves
// it. What it confirms is safe. What goes wrong with it by itself, at its fault points, its clients
// have to get over.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "fermata/runtime.hpp"

namespace fermata::properties::journal {

enum class What : std::uint32_t { Append, Read };

/// Begins each question and each answer; `size` bytes follow it. The answer to an append has the
/// entry's place for a number, the one to a read has all entries behind it, each with a Header.
struct Header {
  What what = What::Append;
  std::uint32_t number = 0;
  std::uint32_t size = 0;
};

/// Sends a header and `bytes`. Suspends.
void send(TcpStream& stream, Header header, std::span<const std::byte> bytes,
          const WaitOptions& options = {});

constexpr std::uint16_t kPort = 4000;

/// Serves what the disk has, and what comes, until it is shut down. Calls `hanging_up` with a
/// client's address before it ends that connection of its own accord.
void serve(const std::function<void(const Address&)>& hanging_up);

}  // namespace fermata::properties::journal
