// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of a reactor that asks the name service, both ways.
//
// Order    None between questions.
// Ending   A request's end before its completion abandons the question: it is withdrawn where that
//          is possible, and a late answer reaches nobody (DNS-03).
// Backend  Implements the hooks, calls finished() from inside a turn, never at once.
// Source   DNS-01 to DNS-04.

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/reactor/handle.hpp"
#include "fermata/reactor/name_query.hpp"
#include "fermata/reactor/request.hpp"

namespace fermata::backend {

class Names;

class NameRequest final : public Request {
 public:
  /// Which addresses has `host`, with the port of `service`? Throws UsageError unless `host` has 1
  /// to 255 bytes and neither has a NUL.
  NameRequest(Names& names, std::string_view host, std::string_view service);
  /// Asks for the name of `address`.
  NameRequest(Names& names, const Address& address);
  ~NameRequest() override;
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

  /// Once completed without an error: at least one, each once, in the order of preference.
  [[nodiscard]] std::vector<Address> take_addresses() noexcept { return std::move(addresses_); }
  [[nodiscard]] HostName take_name() noexcept { return std::move(name_); }

 private:
  friend class Names;

  void ask(std::unique_ptr<NameQuery> query);

  Names& names_;
  NameQuery* query_ = nullptr;  // Null when it has ended.
  std::vector<Address> addresses_;
  HostName name_;
};

class Names {
 public:
  virtual ~Names() = default;

  /// Questions whose backend has not finished, the abandoned ones included.
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }

 protected:
  explicit Names(detail::Attachment& attachment) noexcept : attachment_(attachment) {}

  // --- hooks ---

  /// Begins `query`, which stays valid until finished() is called for it, once. Throws DnsError
  /// when it cannot; then finished() is not called.
  virtual void enqueue(NameQuery& query) = 0;
  /// The answer is not wanted any more; finished() follows all the same.
  virtual void withdraw(NameQuery& query) noexcept = 0;

  // --- for the backend ---

  /// `query` has its answer, or has failed. It is gone when this returns.
  void finished(NameQuery& query, std::optional<NameFailure> failure = std::nullopt) noexcept;

  detail::Attachment& attachment_;

 private:
  friend class NameRequest;

  std::size_t in_flight_ = 0;
};

}  // namespace fermata::backend
