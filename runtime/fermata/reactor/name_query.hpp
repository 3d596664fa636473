// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is asked of the name service, and what it answers.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/reactor/address.hpp"

namespace fermata {

namespace backend {
class NameRequest;
}  // namespace backend

/// Why there is no answer.
enum class NameFailure : std::uint8_t {
  NotFound,        // there is no such host
  NoAddress,       // the host has no address of the kind that was asked for
  UnknownService,  // there is no such service
  TryAgain,        // the name service does not answer now
  Failed,          // it does not work
};

/// The words of the system's resolver: "Name or service not known".
[[nodiscard]] const char* to_string(NameFailure reason) noexcept;

/// An error of the name service: "DNS error: store.example: Name or service not known".
class DnsError : public Linkable<DnsError> {
 public:
  DnsError(std::string_view subject, NameFailure reason);
  [[nodiscard]] NameFailure reason() const noexcept { return reason_; }

 private:
  NameFailure reason_;
};

/// The name of an address.
struct HostName {
  std::string host;     // Or the address in figures, when it has no name.
  std::string service;  // Or the port in figures.

  friend bool operator==(const HostName&, const HostName&) = default;
};

namespace backend {

/// One question. It owns all that the answer needs: whoever asked may vanish (DNS-02, DNS-03).
struct NameQuery {
  enum class Kind : std::uint8_t { Forward, Reverse };

  // The question: host and service going forward, the address in reverse.
  Kind kind = Kind::Forward;
  std::string host;     // 1 to 255 bytes without a NUL.
  std::string service;  // A name, a port in figures, or empty for port 0.
  Address address;

  // The answer.
  std::vector<Address> addresses;
  HostName name;

  NameRequest* request = nullptr;  // Null when it was abandoned.
  void* job = nullptr;             // The backend's.
};

}  // namespace backend

}  // namespace fermata
