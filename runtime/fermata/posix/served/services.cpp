// SPDX-License-Identifier: Apache-2.0

// Well-known services by name and by port. Which there are, the kernel says that serves.

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::Kernel;
using fermata::posix::serving_machine;

namespace {

struct Service {
  std::string name;
  int port = 0;  // In the network's order; 0: there is none.
};

bool is_number(const std::string& text) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char each) { return std::isdigit(each) != 0; });
}

Service service_of_name(Kernel& kernel, const char* name) {
  addrinfo hints = {};
  hints.ai_family = AF_INET;
  std::vector<sockaddr_storage> found;
  if (is_number(name) || kernel.addresses_of(nullptr, name, hints, found) != 0) return {};
  return {name, reinterpret_cast<const sockaddr_in&>(found.front()).sin_port};
}

Service service_of_port(Kernel& kernel, int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = static_cast<in_port_t>(port);
  std::string host;
  std::string name;
  const auto* const any = reinterpret_cast<const sockaddr*>(&address);
  if (kernel.name_of(any, sizeof address, NI_NUMERICHOST, host, name) != 0) return {};
  return is_number(name) ? Service() : Service{name, port};
}

/// What an entry points to: no aliases, the name, and the protocol.
struct Texts {
  char* aliases[1];
  char name[64];
  char protocol[16];
};

/// Returns an errno value; with 0 `result` is null when there is no such service.
int fill(const Service& service, const char* protocol, servent* entry, char* buffer, size_t room,
         servent** result) noexcept {
  *result = nullptr;
  if (service.port == 0) return 0;
  const std::string_view used = protocol != nullptr ? protocol : "tcp";
  const auto skipped =
      (alignof(Texts) - reinterpret_cast<std::uintptr_t>(buffer) % alignof(Texts)) % alignof(Texts);
  if (room < skipped + sizeof(Texts)) return ERANGE;
  auto* const texts = new (buffer + skipped) Texts{};
  if (service.name.size() >= sizeof texts->name || used.size() >= sizeof texts->protocol) return 0;
  std::memcpy(texts->name, service.name.data(), service.name.size());
  std::memcpy(texts->protocol, used.data(), used.size());
  *entry = {.s_name = texts->name,
            .s_aliases = texts->aliases,
            .s_port = service.port,
            .s_proto = texts->protocol};
  *result = entry;
  return 0;
}

/// The result of functions without a buffer, which the next call overwrites.
struct Kept {
  servent entry;
  std::array<char, 2 * sizeof(Texts)> texts;
};
constinit thread_local Kept kept = {};

servent* keep(const Service& service, const char* protocol) noexcept {
  servent* result = nullptr;
  static_cast<void>(
      fill(service, protocol, &kept.entry, kept.texts.data(), kept.texts.size(), &result));
  return result;
}

}  // namespace

extern "C" {

servent* getservbyname(const char* name, const char* protocol) {
  Kernel* const kernel = serving_machine();
  if (kernel == nullptr) return FERMATA_REAL(getservbyname)(name, protocol);
  return keep(service_of_name(*kernel, name), protocol);
}

servent* getservbyport(int port, const char* protocol) {
  Kernel* const kernel = serving_machine();
  if (kernel == nullptr) return FERMATA_REAL(getservbyport)(port, protocol);
  return keep(service_of_port(*kernel, port), protocol);
}

int getservbyname_r(const char* name, const char* protocol, servent* entry, char* buffer,
                    size_t room, servent** result) {
  Kernel* const kernel = serving_machine();
  if (kernel == nullptr) {
    return FERMATA_REAL(getservbyname_r)(name, protocol, entry, buffer, room, result);
  }
  return fill(service_of_name(*kernel, name), protocol, entry, buffer, room, result);
}

int getservbyport_r(int port, const char* protocol, servent* entry, char* buffer, size_t room,
                    servent** result) {
  Kernel* const kernel = serving_machine();
  if (kernel == nullptr) {
    return FERMATA_REAL(getservbyport_r)(port, protocol, entry, buffer, room, result);
  }
  return fill(service_of_port(*kernel, port), protocol, entry, buffer, room, result);
}

}  // extern "C"
