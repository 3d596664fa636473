// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names of hosts and services, and addresses.
//
// Suspension  Every call suspends, also when the answer needs nobody. Cancelled or timed out, the
//             question is withdrawn; a late answer reaches nobody.
// Errors      DnsError, for instance "DNS error: store.example: Name or service not known";
//             UsageError for a host that is empty, longer than 255 bytes or has a NUL in it.

#include <string_view>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "fermata/reactor/names.hpp"

namespace fermata {

/// The addresses of `host` in the order of preference, at least one, with the port of `service`: a
/// name, a number in figures, or empty for port 0. A real name service is asked for IPv4 addresses
/// only, and `host` may be an IPv6 address in figures.
[[nodiscard]] std::vector<Address> resolve(std::string_view host, std::string_view service = {},
                                           const WaitOptions& options = {},
                                           SourcePlace place = SourcePlace::current());

/// The host name of `address`.
[[nodiscard]] HostName reverse_resolve(const Address& address, const WaitOptions& options = {},
                                       SourcePlace place = SourcePlace::current());

}  // namespace fermata
