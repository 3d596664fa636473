// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/names.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/host_address.hpp"
#include "fermata/sim/net/name_table.hpp"

namespace fermata::sim::detail {

namespace {

constexpr Duration kQuick = std::chrono::microseconds(500);
constexpr Duration kLeastDnsDelay = std::chrono::milliseconds(1);
constexpr std::uint64_t kDnsDelays = 14;  // Each twice the one before; the longest is 8 s.

/// The address that `host` spells in figures.
std::optional<Address> in_figures(const std::string& host) {
  try {
    return Address(host, 0);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

std::string subject_of(const backend::NameQuery& query) {
  return query.kind == backend::NameQuery::Kind::Reverse ? query.address.text() : query.host;
}

/// What the program is told: ": 10.0.0.2, 10.0.0.3", " (Name or service not known)".
std::string answer_text(const backend::NameQuery& query, std::optional<NameFailure> failure) {
  if (failure) return fmt::format(" ({})", to_string(*failure));
  if (query.kind == backend::NameQuery::Kind::Reverse) return ": " + query.name.host;
  std::string text;
  for (const Address& each : query.addresses) text += (text.empty() ? ": " : ", ") + each.ip_text();
  return text;
}

}  // namespace

bool SimNames::answered_here(const backend::NameQuery& query) const {
  if (query.kind == backend::NameQuery::Kind::Reverse) return query.address.is_loopback();
  return query.host == "localhost" || in_figures(query.host).has_value();
}

void SimNames::enqueue(backend::NameQuery& query) {
  Job& job = jobs_.emplace_back(*this, query);
  job.self = std::prev(jobs_.end());
  if (RunLog* const told = machine_.run_log()) {
    job.noted = told->called(machine_.name(), fmt::format("looks up '{}'", subject_of(query)));
  }
  const std::uint64_t key = key_of(key_of(machine_.key(), "dns"), query.host);
  Duration takes = Duration::zero();
  if (!answered_here(query)) {
    const auto tell = [&](const Decision& decision) {
      return fmt::format("{} takes {} longer", text(query),
                         amount(kLeastDnsDelay * (1 << decision.value)));
    };
    const std::uint64_t slow = machine_.faults().strength(
        Fault::DnsDelay, backend::RandomStream::Network, key_of(key, "delay"), kDnsDelays, tell);
    takes = kQuick + (slow == 0 ? Duration::zero() : kLeastDnsDelay * (1 << slow));
  }
  machine_.agenda().schedule(job, machine_.now() + takes, key);
}

void SimNames::answer(Job& job) {
  backend::NameQuery& query = job.query;
  FERMATA_ASSERT(&*job.self == &job);
  const std::optional<RunLog::CallId> noted = job.noted;
  jobs_.erase(job.self);
  const std::optional<NameFailure> failure = look_up(query);
  RunLog* const told = noted ? machine_.run_log() : nullptr;
  if (told != nullptr) told->answered(*noted, answer_text(query, failure));
  finished(query, failure);
}

std::string SimNames::text(const backend::NameQuery& query) const {
  return fmt::format("the look-up of '{}' by '{}'", subject_of(query), machine_.name());
}

std::optional<NameFailure> SimNames::look_up(backend::NameQuery& query) const {
  if (!answered_here(query)) {
    const std::uint64_t key = key_of(key_of(machine_.key(), "dns failure"), query.host);
    const auto tell = [&](const Decision&) { return text(query) + " gets no answer"; };
    if (machine_.faults().strikes(Fault::DnsFailure, backend::RandomStream::Network, key, tell)) {
      return NameFailure::TryAgain;
    }
  }
  if (query.kind == backend::NameQuery::Kind::Reverse) {
    look_up_reverse(query);
    return std::nullopt;
  }
  const auto port = query.service.empty() ? 0 : NameTable::port_of(query.service);
  if (!port) return NameFailure::UnknownService;
  if (const auto figures = in_figures(query.host)) {
    query.addresses = {figures->with_port(*port)};
  } else if (query.host == "localhost") {
    query.addresses = {Address::v4(kLoopback, *port)};
  } else if (const auto* said = table_.find(query.host)) {
    for (const Address& each : *said) query.addresses.push_back(each.with_port(*port));
  } else if (const Machine* named = machine_.peer(query.host)) {
    query.addresses = {Address::v4(named->ip(), *port)};
  }
  return query.addresses.empty() ? std::optional(NameFailure::NotFound) : std::nullopt;
}

void SimNames::look_up_reverse(backend::NameQuery& query) const {
  query.name.service = NameTable::service_of(query.address.port());
  if (query.address.is_loopback()) {
    query.name.host = "localhost";
  } else if (const Machine* known = machine_at(machine_, query.address)) {
    query.name.host = known->name();
  } else if (const std::string_view host = table_.host_of(query.address); !host.empty()) {
    query.name.host = host;
  } else {
    query.name.host = query.address.ip_text();
  }
  FERMATA_ASSERT(!query.name.host.empty());
  FERMATA_ASSERT(!query.name.service.empty());
}

}  // namespace fermata::sim::detail
