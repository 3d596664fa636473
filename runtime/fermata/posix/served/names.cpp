// SPDX-License-Identifier: Apache-2.0

// Names of hosts and of network interfaces.
//
// Memory  Lists are laid out as the C library does it, whose freeaddrinfo() and freeifaddrs() free
//         them.

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::answer;
using fermata::posix::Interface;
using fermata::posix::Kernel;
using fermata::posix::serving;
using fermata::posix::serving_for;
using fermata::posix::serving_machine;

namespace {

socklen_t size_of(const sockaddr_storage& address) noexcept {
  return address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

/// One way to talk to an address, as hints may ask for.
struct Service {
  int type;
  int protocol;
};
constexpr std::array kServices = {Service{SOCK_STREAM, IPPROTO_TCP},
                                  Service{SOCK_DGRAM, IPPROTO_UDP}, Service{SOCK_RAW, IPPROTO_IP}};

bool wanted(const Service& service, const addrinfo& hints) noexcept {
  return (hints.ai_socktype == 0 || hints.ai_socktype == service.type) &&
         (hints.ai_protocol == 0 || service.protocol == 0 || hints.ai_protocol == service.protocol);
}

addrinfo* make_entry(const sockaddr_storage& address, const Service& service,
                     const addrinfo& hints) {
  const socklen_t size = size_of(address);
  auto* const memory = static_cast<char*>(std::calloc(1, sizeof(addrinfo) + size));
  if (memory == nullptr) return nullptr;
  auto* const entry = new (memory) addrinfo{};
  entry->ai_flags = hints.ai_flags;
  entry->ai_family = address.ss_family;
  entry->ai_socktype = service.type;
  entry->ai_protocol = service.protocol != 0 ? service.protocol : hints.ai_protocol;
  entry->ai_addrlen = size;
  entry->ai_addr = reinterpret_cast<sockaddr*>(memory + sizeof(addrinfo));
  std::memcpy(entry->ai_addr, &address, size);
  return entry;
}

int make_list(const std::vector<sockaddr_storage>& addresses, const char* host,
              const addrinfo& hints, addrinfo** list) {
  addrinfo* first = nullptr;
  addrinfo** next = &first;
  bool out_of_memory = false;
  for (const sockaddr_storage& address : addresses) {
    for (const Service& service : kServices) {
      if (!wanted(service, hints)) continue;
      *next = make_entry(address, service, hints);
      if (*next == nullptr) {
        out_of_memory = true;
      } else {
        next = &(*next)->ai_next;
      }
    }
  }
  if (first != nullptr && host != nullptr && (hints.ai_flags & AI_CANONNAME) != 0) {
    first->ai_canonname = ::strdup(host);
    out_of_memory = out_of_memory || first->ai_canonname == nullptr;
  }
  if (out_of_memory) {
    if (first != nullptr) ::freeaddrinfo(first);
    return EAI_MEMORY;
  }
  if (first == nullptr) return EAI_SOCKTYPE;
  *list = first;
  return 0;
}

/// Copies a text with its end; false when it does not fit.
bool copy(const std::string& text, char* target, size_t room) noexcept {
  if (target == nullptr || room == 0) return true;
  if (text.size() >= room) return false;
  std::memcpy(target, text.c_str(), text.size() + 1);
  return true;
}

/// An entry of a list of interfaces, which is one piece of memory.
struct InterfaceEntry {
  ifaddrs listed;
  sockaddr_storage address;
  sockaddr_storage netmask;
  char name[IF_NAMESIZE];
};

/// The result of gethostbyname(), which the next call overwrites.
class HostEntry {
 public:
  hostent* fill(const char* name, const std::vector<sockaddr_storage>& found) noexcept {
    const std::size_t length = std::min(std::strlen(name), name_.size() - 1);
    std::memcpy(name_.data(), name, length);
    name_[length] = '\0';
    const std::size_t count = std::min(found.size(), addresses_.size());
    for (std::size_t i = 0; i < count; ++i) {
      addresses_[i] = reinterpret_cast<const sockaddr_in&>(found[i]).sin_addr;
      pointers_[i] = reinterpret_cast<char*>(&addresses_[i]);
    }
    pointers_[count] = nullptr;
    entry_ = {.h_name = name_.data(),
              .h_aliases = &pointers_[count],
              .h_addrtype = AF_INET,
              .h_length = sizeof(in_addr),
              .h_addr_list = pointers_.data()};
    return &entry_;
  }

 private:
  static constexpr std::size_t kMostAddresses = 32;

  hostent entry_ = {};
  std::array<char, NI_MAXHOST> name_ = {};
  std::array<in_addr, kMostAddresses> addresses_ = {};
  std::array<char*, kMostAddresses + 1> pointers_ = {};
};

constinit thread_local HostEntry host_entry;

}  // namespace

extern "C" {

int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** list) {
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  if (kernel == nullptr) return FERMATA_REAL(getaddrinfo)(host, service, hints, list);
  if (host == nullptr && service == nullptr) return EAI_NONAME;
  addrinfo asked = {};
  if (hints == nullptr) {
    asked.ai_flags = AI_V4MAPPED | AI_ADDRCONFIG;
  } else {
    asked = *hints;
  }
  const bool known_family =
      asked.ai_family == AF_UNSPEC || asked.ai_family == AF_INET || asked.ai_family == AF_INET6;
  if (!known_family) return EAI_FAMILY;
  std::vector<sockaddr_storage> found;
  const int code = kernel->addresses_of(host, service, asked, found);
  return code != 0 ? code : make_list(found, host, asked, list);
}

int getnameinfo(const sockaddr* address, socklen_t size, char* host, socklen_t host_room,
                char* service, socklen_t service_room, int flags) {
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  if (kernel == nullptr) {
    return FERMATA_REAL(getnameinfo)(address, size, host, host_room, service, service_room, flags);
  }
  std::string host_text;
  std::string service_text;
  const int code = kernel->name_of(address, size, flags, host_text, service_text);
  if (code != 0) return code;
  const bool fits = copy(host_text, host, host_room) && copy(service_text, service, service_room);
  return fits ? 0 : EAI_OVERFLOW;
}

hostent* gethostbyname(const char* name) {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(gethostbyname)(name);
  addrinfo hints = {};
  hints.ai_family = AF_INET;
  std::vector<sockaddr_storage> found;
  const int code = kernel->addresses_of(name, nullptr, hints, found);
  if (code != 0) {
    h_errno = code == EAI_AGAIN ? TRY_AGAIN : HOST_NOT_FOUND;
    return nullptr;
  }
  return host_entry.fill(name, found);
}

int gethostname(char* name, size_t room) noexcept {
  Kernel* const kernel = serving_machine();
  if (kernel == nullptr) return FERMATA_REAL(gethostname)(name, room);
  return answer(copy(kernel->host_name(), name, room) ? 0 : -ENAMETOOLONG);
}

// --- interfaces ---

unsigned if_nametoindex(const char* name) noexcept {
  Kernel* const kernel = serving_machine();
  if (kernel == nullptr) return FERMATA_REAL(if_nametoindex)(name);
  for (const Interface& each : kernel->interfaces()) {
    if (each.name == name) return each.index;
  }
  errno = ENODEV;
  return 0;
}

char* if_indextoname(unsigned index, char* name) noexcept {
  Kernel* const kernel = serving_machine();
  if (kernel == nullptr) return FERMATA_REAL(if_indextoname)(index, name);
  for (const Interface& each : kernel->interfaces()) {
    if (each.index == index && copy(each.name, name, IF_NAMESIZE)) return name;
  }
  errno = ENXIO;
  return nullptr;
}

int getifaddrs(ifaddrs** list) noexcept {
  Kernel* const kernel = serving_machine();
  if (kernel == nullptr) return FERMATA_REAL(getifaddrs)(list);
  const std::vector<Interface> interfaces = kernel->interfaces();
  void* const memory = std::calloc(interfaces.size(), sizeof(InterfaceEntry));
  if (memory == nullptr) return answer(-ENOMEM);
  auto* const entries = new (memory) InterfaceEntry[interfaces.size()]{};
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    InterfaceEntry& entry = entries[i];
    entry.address = interfaces[i].address;
    entry.netmask = interfaces[i].netmask;
    copy(interfaces[i].name, entry.name, sizeof entry.name);
    entry.listed.ifa_next = i + 1 < interfaces.size() ? &entries[i + 1].listed : nullptr;
    entry.listed.ifa_name = entry.name;
    entry.listed.ifa_flags = interfaces[i].flags;
    entry.listed.ifa_addr = reinterpret_cast<sockaddr*>(&entry.address);
    entry.listed.ifa_netmask = reinterpret_cast<sockaddr*>(&entry.netmask);
  }
  *list = &entries->listed;
  return 0;
}

}  // extern "C"
