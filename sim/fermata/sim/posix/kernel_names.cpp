// SPDX-License-Identifier: Apache-2.0

// Names of hosts and services, and the interfaces of the machine.

#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include "fermata/reactor/names.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/host_address.hpp"
#include "fermata/sim/net/name_table.hpp"
#include "fermata/sim/posix/kernel_calls.hpp"
#include "fermata/sim/posix/socket_address.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::size_t kLongestName = 255;

int eai_of(NameFailure failure) noexcept {
  switch (failure) {
    case NameFailure::NotFound:
      return EAI_NONAME;
    case NameFailure::NoAddress:
      return EAI_NODATA;
    case NameFailure::UnknownService:
      return EAI_SERVICE;
    case NameFailure::TryAgain:
      return EAI_AGAIN;
    case NameFailure::Failed:
      return EAI_FAIL;
  }
  return EAI_FAIL;
}

/// The address that `host` spells in figures.
std::optional<Address> in_figures(const char* host) {
  try {
    return Address(host, 0);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

bool takes(int family, IpVersion version) noexcept {
  return family == AF_UNSPEC || family == (version == IpVersion::V4 ? AF_INET : AF_INET6);
}

/// Addresses as `hints` want them: of IPv4 mapped where there are no others, or with AI_ALL.
std::vector<sockaddr_storage> wanted_of(const std::vector<Address>& all, const addrinfo& hints) {
  std::vector<sockaddr_storage> wanted;
  for (const Address& each : all) {
    if (takes(hints.ai_family, each.version())) wanted.push_back(spelled(each));
  }
  const bool maps = hints.ai_family == AF_INET6 && (hints.ai_flags & AI_V4MAPPED) != 0;
  if (!maps || (!wanted.empty() && (hints.ai_flags & AI_ALL) == 0)) return wanted;
  for (const Address& each : all) {
    if (each.version() == IpVersion::V4) wanted.push_back(spelled(each.mapped()));
  }
  return wanted;
}

posix::Interface interface_of(const char* name, unsigned index, unsigned flags,
                              const Address& address, unsigned prefix) {
  posix::Interface made;
  made.name = name;
  made.index = index;
  made.flags = flags | IFF_UP | IFF_RUNNING;
  made.address = spelled(address);
  Address::Bytes mask{};
  const unsigned first = address.version() == IpVersion::V4 ? 96 : 0;  // Of mapped bytes.
  for (unsigned bit = 0; bit < first + prefix; ++bit) {
    mask[bit / 8] = static_cast<Address::Bytes::value_type>(mask[bit / 8] | (0x80u >> (bit % 8)));
  }
  if (address.version() == IpVersion::V4) {
    const std::uint32_t number = prefix == 0 ? 0 : ~std::uint32_t{0} << (32 - prefix);
    made.netmask = spelled(Address::v4(number, 0));
  } else {
    made.netmask = spelled(Address::v6(mask, 0));
  }
  return made;
}

}  // namespace

int SimKernel::addresses_of(const char* host, const char* service, const addrinfo& hints,
                            std::vector<sockaddr_storage>& found) {
  if (const int code = enter("getaddrinfo")) {
    errno = -code;
    return EAI_SYSTEM;
  }
  const auto port = NameTable::port_of(service != nullptr ? service : "0");
  if (!port) return EAI_SERVICE;
  if (host == nullptr) {
    const bool passive = (hints.ai_flags & AI_PASSIVE) != 0;
    // As glibc orders them: the address to bind, and the address to connect to.
    if (takes(hints.ai_family, IpVersion::V6) && !passive) {
      found.push_back(spelled(host_address(IpVersion::V6, kLoopback, *port)));
    }
    if (takes(hints.ai_family, IpVersion::V4)) {
      found.push_back(spelled(Address::v4(passive ? 0 : kLoopback, *port)));
    }
    if (takes(hints.ai_family, IpVersion::V6) && passive) {
      found.push_back(spelled(Address::v6({}, *port)));
    }
    return 0;
  }
  if (const std::optional<Address> figures = in_figures(host)) {
    found = wanted_of({figures->with_port(*port)}, hints);
    return found.empty() ? EAI_ADDRFAMILY : 0;
  }
  const std::size_t length = std::char_traits<char>::length(host);
  const bool is_name = length > 0 && length <= kLongestName;
  if (!is_name || (hints.ai_flags & AI_NUMERICHOST) != 0) return EAI_NONAME;
  int code = 0;
  const int waited = suspended("getaddrinfo", [&](const SourcePlace& place, Event*) {
    backend::NameRequest request(current_runtime().reactor().names(), host, {});
    try {
      if (!request.is_completed()) fermata::wait(request, {}, place);
      if (request.error()) std::rethrow_exception(request.error());
      std::vector<Address> all;
      for (const Address& each : request.take_addresses()) {
        all.push_back(each.with_port(*port));
        // A machine has one of each version, and its name stands for both.
        const Machine* const machine = machine_at(machine_, each);
        if (machine == nullptr || each.version() != IpVersion::V4) continue;
        const std::uint32_t number = each.is_loopback() ? kLoopback : machine->ip();
        all.push_back(host_address(IpVersion::V6, number, *port));
      }
      found = wanted_of(all, hints);
    } catch (const DnsError& error) {
      code = eai_of(error.reason());
    }
  });
  if (waited != 0) {
    errno = -waited;
    return EAI_SYSTEM;
  }
  if (code == 0 && found.empty()) return EAI_NODATA;
  return code;
}

int SimKernel::name_of(const sockaddr* address, socklen_t size, int flags, std::string& host,
                       std::string& service) {
  if (const int code = enter("getnameinfo")) {
    errno = -code;
    return EAI_SYSTEM;
  }
  if (address == nullptr || size < sizeof(sa_family_t)) return EAI_FAMILY;
  const int family = address->sa_family;
  if (family != AF_INET && family != AF_INET6) return EAI_FAMILY;
  int invalid = 0;
  const std::optional<Address> asked = ip_address(family, address, size, invalid);
  if (!asked) return EAI_FAMILY;
  service = (flags & NI_NUMERICSERV) != 0 ? std::to_string(asked->port())
                                          : NameTable::service_of(asked->port());
  host = asked->ip_text();
  if ((flags & NI_NUMERICHOST) != 0) return 0;
  int code = 0;
  const int waited = suspended("getnameinfo", [&](const SourcePlace& place, Event*) {
    backend::NameRequest request(current_runtime().reactor().names(), asked->unmapped());
    try {
      if (!request.is_completed()) fermata::wait(request, {}, place);
      if (request.error()) std::rethrow_exception(request.error());
      const std::string name = request.take_name().host;
      const bool is_unknown = name == asked->unmapped().ip_text();
      if (is_unknown && (flags & NI_NAMEREQD) != 0) code = EAI_NONAME;
      if (!is_unknown) host = name;
    } catch (const DnsError& error) {
      code = eai_of(error.reason());
    }
  });
  if (waited == 0) return code;
  errno = -waited;
  return EAI_SYSTEM;
}

std::string SimKernel::host_name() {
  threads_.switch_point("gethostname");
  return machine_.name();
}

std::vector<posix::Interface> SimKernel::interfaces() {
  constexpr unsigned kNet = IFF_BROADCAST | IFF_MULTICAST;
  return {interface_of("lo", 1, IFF_LOOPBACK, host_address(IpVersion::V4, kLoopback, 0), 8),
          interface_of("eth0", 2, kNet, host_address(IpVersion::V4, machine_.ip(), 0), 8),
          interface_of("lo", 1, IFF_LOOPBACK, host_address(IpVersion::V6, kLoopback, 0), 128),
          interface_of("eth0", 2, kNet, host_address(IpVersion::V6, machine_.ip(), 0), 96)};
}

}  // namespace fermata::sim::detail
