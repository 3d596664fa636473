// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tracing.hpp"

namespace fermata::loop {

std::string Tracing::Trace::text() const {
  std::string out = to_string(kind);
  out += " registered at " + registered_at.text();
  if (is_cancelled) return out + " and cancelled at " + cancelled_at.text();
  return is_live ? out : out + ", which has run";
}

void Tracing::registered(const CallbackInfo& info) {
  traces_[info.id] = {.kind = info.kind, .registered_at = info.registered_at};
}

void Tracing::ended(const CallbackInfo& info, const SourcePlace* place) {
  const auto found = traces_.find(info.id);
  if (found == traces_.end() || !found->second.is_live) return;
  Trace& trace = found->second;
  trace.is_live = false;
  trace.is_cancelled = place != nullptr;
  if (place != nullptr) trace.cancelled_at = *place;
  ended_.push_back(info.id);
  if (ended_.size() > ended_limit_) {
    traces_.erase(ended_.front());
    ended_.pop_front();
  }
}

std::string Tracing::history(CallbackId id) const {
  const auto found = traces_.find(id);
  return found == traces_.end() ? std::string() : "was a " + found->second.text();
}

std::vector<std::string> Tracing::dump() const {
  std::vector<std::string> lines;
  for (const auto& [id, trace] : traces_) {
    if (trace.is_live) lines.push_back(std::to_string(id) + ": " + trace.text());
  }
  return lines;
}

}  // namespace fermata::loop
