// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/core/wait_facts.hpp"

namespace fermata {

namespace {

constexpr std::size_t kLongestHost = 255;

std::string subject_of(const backend::NameQuery& query) {
  if (query.kind == backend::NameQuery::Kind::Reverse) return query.address.text();
  return query.service.empty() ? query.host : query.host + ":" + query.service;
}

void require_text(const char* what, std::string_view text) {
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos) {
    throw UsageError(fmt::format("resolve: {} '{}': expected no NUL, there is one at {}", what,
                                 text.substr(0, at), at));
  }
}

void keep_each_once(std::vector<Address>& addresses) {
  std::vector<Address> kept;
  for (const Address& each : addresses) {
    if (std::find(kept.begin(), kept.end(), each) == kept.end()) kept.push_back(each);
  }
  addresses = std::move(kept);
}

}  // namespace

const char* to_string(NameFailure reason) noexcept {
  switch (reason) {
    case NameFailure::NotFound:
      return "Name or service not known";
    case NameFailure::NoAddress:
      return "No address associated with hostname";
    case NameFailure::UnknownService:
      return "Servname not supported for ai_socktype";
    case NameFailure::TryAgain:
      return "Temporary failure in name resolution";
    case NameFailure::Failed:
      return "Non-recoverable failure in name resolution";
  }
  return "Unknown error";
}

DnsError::DnsError(std::string_view subject, NameFailure reason)
    : Linkable(fmt::format("DNS error: {}: {}", subject, to_string(reason))), reason_(reason) {}

namespace backend {

NameRequest::NameRequest(Names& names, std::string_view host, std::string_view service)
    : Request(names.attachment_.runtime(), "resolve"), names_(names) {
  if (host.empty() || host.size() > kLongestHost) {
    throw UsageError(fmt::format("resolve: host '{}' of {} bytes: expected 1 to {} bytes", host,
                                 host.size(), kLongestHost));
  }
  require_text("host", host);
  require_text("service", service);
  auto query = std::make_unique<NameQuery>();
  query->host = host;
  query->service = service;
  ask(std::move(query));
}

NameRequest::NameRequest(Names& names, const Address& address)
    : Request(names.attachment_.runtime(), "resolve"), names_(names) {
  auto query = std::make_unique<NameQuery>();
  query->kind = NameQuery::Kind::Reverse;
  query->address = address;
  ask(std::move(query));
}

void NameRequest::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  facts.is("resolve", query_ != nullptr ? subject_of(*query_) : std::string(), nullptr);
  facts.outside("the resolver");
}

NameRequest::~NameRequest() {
  if (query_ == nullptr) return;
  FERMATA_ASSERT(!is_completed());
  FERMATA_ASSERT(query_->request == this);
  query_->request = nullptr;
  names_.withdraw(*query_);
}

void NameRequest::ask(std::unique_ptr<NameQuery> query) {
  FERMATA_ASSERT(query_ == nullptr);
  query->request = this;
  try {
    names_.enqueue(*query);
  } catch (const DnsError&) {
    return fail(std::current_exception());
  }
  ++names_.in_flight_;
  query_ = query.release();
}

void Names::finished(NameQuery& query, std::optional<NameFailure> failure) noexcept {
  const std::unique_ptr<NameQuery> ended(&query);
  FERMATA_ASSERT(in_flight_ > 0);
  --in_flight_;
  NameRequest* const request = query.request;
  if (request == nullptr) return;
  FERMATA_ASSERT(request->query_ == &query);
  request->query_ = nullptr;
  if (failure) {
    return request->fail(std::make_exception_ptr(DnsError(subject_of(query), *failure)));
  }
  keep_each_once(query.addresses);
  request->addresses_ = std::move(query.addresses);
  request->name_ = std::move(query.name);
  request->complete(0);
}

}  // namespace backend

}  // namespace fermata
