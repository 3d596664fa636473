// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/catalogue.hpp"

#include <fmt/format.h>

#include <array>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/counted.hpp"

namespace fermata::sim {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {"always", "unreachable", "sometimes",
                                                    "reachable", "eventually"};

}  // namespace

std::string_view to_string(backend::AssertionKind kind) noexcept {
  FERMATA_ASSERT(static_cast<std::size_t>(kind) < kKinds.size());
  return kKinds[static_cast<std::size_t>(kind)];
}

backend::AssertionKind assertion_kind_of(std::string_view text) {
  const auto found = std::find(kKinds.begin(), kKinds.end(), text);
  if (found == kKinds.end()) throw UsageError(fmt::format("'{}' is not a kind of assertion", text));
  return static_cast<backend::AssertionKind>(found - kKinds.begin());
}

std::string Claim::text() const {
  std::string text = fmt::format("{} '{}'", to_string(kind), message);
  if (!condition.empty()) text += fmt::format(" ({})", condition);
  text += fmt::format(" at {}: ", place);
  if (counts.reached == 0) return text + "never reached";
  text += fmt::format("reached {}, held {}", counted(counts.reached, "time"),
                      counted(counts.held, "time"));
  if (!numeric) return text;
  return counts.most < 0
             ? text + fmt::format(", {} short at best", 0 - static_cast<std::uint64_t>(counts.most))
             : text + fmt::format(", {} to spare at worst", counts.least);
}

Catalogue Catalogue::of_program(std::span<const AssertionCounts> counts) {
  Catalogue catalogue;
  for (const backend::AssertionSite* site = backend::assertion_sites(); site != nullptr;
       site = site->next) {
    catalogue.add(
        Claim{.kind = site->kind,
              .numeric = site->numeric,
              .message = site->message,
              .place = fmt::format("{}:{}", site->file, site->line),
              .condition = site->condition,
              .counts = site->index < counts.size() ? counts[site->index] : AssertionCounts()});
  }
  return catalogue;
}

void Catalogue::add(const Claim& claim) {
  const auto [place, is_new] = claims_.try_emplace({claim.kind, claim.message}, claim);
  if (is_new) return;
  Claim& known = place->second;
  FERMATA_ASSERT(known.message == claim.message);
  known.counts.add(claim.counts);
  known.numeric = known.numeric && claim.numeric;
  if (claim.place < known.place) {
    known.place = claim.place;
    known.condition = claim.condition;
  }
}

void Catalogue::add(const Catalogue& other) {
  for (const auto& [identity, claim] : other.claims_) add(claim);
}

std::vector<Claim> Catalogue::claims() const {
  std::vector<Claim> all;
  for (const auto& [identity, claim] : claims_) all.push_back(claim);
  return all;
}

std::vector<Claim> Catalogue::missed() const {
  std::vector<Claim> missed = claims();
  std::erase_if(missed, [](const Claim& claim) { return !claim.is_missed(); });
  FERMATA_ASSERT(missed.size() <= obligations());
  return missed;
}

std::size_t Catalogue::obligations() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(claims_.begin(), claims_.end(),
                    [](const auto& entry) { return entry.second.is_obligation(); }));
}

}  // namespace fermata::sim
