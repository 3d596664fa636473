// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/catalogue_json.hpp"

namespace fermata::sim {
namespace {

Json json_of(const Claim& claim) {
  Json json = {{"kind", to_string(claim.kind)}, {"message", claim.message},
               {"place", claim.place},          {"condition", claim.condition},
               {"numeric", claim.numeric},      {"reached", claim.counts.reached},
               {"held", claim.counts.held}};
  if (claim.numeric && claim.counts.reached > 0) {
    json["least"] = claim.counts.least;
    json["most"] = claim.counts.most;
  }
  return json;
}

Claim claim_of(const Json& json) {
  Claim claim;
  claim.kind = assertion_kind_of(json.at("kind").get<std::string>());
  json.at("message").get_to(claim.message);
  json.at("place").get_to(claim.place);
  json.at("condition").get_to(claim.condition);
  json.at("numeric").get_to(claim.numeric);
  json.at("reached").get_to(claim.counts.reached);
  json.at("held").get_to(claim.counts.held);
  claim.counts.least = json.value("least", claim.counts.least);
  claim.counts.most = json.value("most", claim.counts.most);
  return claim;
}

}  // namespace

Json json_of(const Catalogue& catalogue) {
  Json all = Json::array();
  for (const Claim& claim : catalogue.claims()) all.push_back(json_of(claim));
  return all;
}

Catalogue catalogue_of(const Json& json) {
  Catalogue catalogue;
  for (const Json& claim : json) catalogue.add(claim_of(claim));
  return catalogue;
}

}  // namespace fermata::sim
