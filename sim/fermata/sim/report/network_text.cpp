// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/network_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/printable.hpp"
#include "fermata/sim/tape/decision.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kMostOfMessage = 32;  // Bytes of a message.
constexpr std::size_t kMostListed = 5;      // Messages of a flow.

/// "1,204".
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

/// One direction of a connection, or the datagrams from one machine to one port.
struct Flow {
  std::string text;   // "client:40001 -> server:5432".
  std::string state;  // How it is, or has come to its end; empty: it is in use.
  std::uint64_t messages = 0;
  std::uint64_t sent = 0;
  std::uint64_t arrived = 0;
  std::uint64_t lost = 0;
  std::vector<std::string> missing;  // What has not arrived, a line each.
  bool is_datagrams = false;
};

/// What names a flow: the connection and the direction, or the ends.
using Key = std::tuple<std::uint64_t, bool, std::string, std::string, std::uint16_t>;

Key flow_key(const Message& message) {
  if (message.kind != Message::Kind::Datagram) {
    FERMATA_ASSERT(message.connection != 0);
    return {message.connection, !message.from_client, "", "", 0};
  }
  return {0, false, message.from, message.to, message.destination.port()};
}

class Network {
 public:
  Network(const RunLog& run_log, const MomentOfRun& moment) : moment_(moment) {
    for (const Message& message : run_log.message_log().messages()) {
      if (was_sent(message)) add(message);
    }
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const Flow& flow : flows_) text += line_of(flow);
    return text;
  }

 private:
  [[nodiscard]] bool was_sent(const Message& message) const {
    return message.step ? moment_.has_come(*message.step + 1, message.sent)
                        : message.sent <= moment_.at;
  }
  [[nodiscard]] bool has_arrived(const Message& message) const {
    return message.arrival <= moment_.at && message.fate == Message::Fate::Delivered;
  }

  Flow& flow_of(const Message& message) {
    const auto [found, is_new] = index_.try_emplace(flow_key(message), flows_.size());
    if (is_new) {
      const bool is_datagrams = message.kind == Message::Kind::Datagram;
      Flow flow;
      flow.is_datagrams = is_datagrams;
      flow.text = is_datagrams ? fmt::format("udp {} -> {}:{}", message.from, message.to,
                                             message.destination.port())
                               : fmt::format("{}:{} -> {}:{}", message.from, message.source.port(),
                                             message.to, message.destination.port());
      flows_.push_back(std::move(flow));
    }
    FERMATA_ASSERT(found->second < flows_.size());
    return flows_[found->second];
  }

  void add(const Message& message) {
    Flow& flow = flow_of(message);
    switch (message.kind) {
      case Message::Kind::Connect:
        flow.state = state_of_connect(message);
        return;
      case Message::Kind::End:
        flow.state = "closed" + whether_noticed(message);
        return;
      case Message::Kind::Reset:
        flow.state = "reset" + whether_noticed(message);
        return;
      case Message::Kind::Data:
      case Message::Kind::Datagram:
        if (message.fate != Message::Fate::Duplicate) add_payload(flow, message);
    }
  }

  void add_payload(Flow& flow, const Message& message) const {
    ++flow.messages;
    flow.sent += message.size;
    if (has_arrived(message)) {
      flow.arrived += message.size;
      return;
    }
    const bool is_refused = message.fate == Message::Fate::Refused;
    const bool is_lost = message.fate == Message::Fate::Lost || is_refused;
    if (is_lost) flow.lost += message.size;
    std::string text = fmt::format("{}: \"{}\" ({}), sent at {}",
                                   is_refused ? "refused"
                                   : is_lost  ? "lost"
                                              : "in flight",
                                   printable(message.bytes, message.size, kMostOfMessage),
                                   counted(message.size, "byte"), describe(message.sent));
    if (!is_lost && message.arrival != Instant::never()) {
      text += fmt::format(", arrives at {}", describe(message.arrival));
    }
    flow.missing.push_back(std::move(text));
  }

  [[nodiscard]] std::string whether_noticed(const Message& message) const {
    FERMATA_ASSERT(message.kind == Message::Kind::End || message.kind == Message::Kind::Reset);
    if (has_arrived(message)) return {};
    return message.fate == Message::Fate::Lost ? ", never noticed" : ", not yet noticed";
  }

  [[nodiscard]] std::string state_of_connect(const Message& message) const {
    FERMATA_ASSERT(message.kind == Message::Kind::Connect);
    const bool is_answered = message.answered <= moment_.at;
    if (message.fate == Message::Fate::Refused && is_answered) return "refused";
    return has_arrived(message) && is_answered ? "" : "not connected yet";
  }

  [[nodiscard]] static std::string line_of(const Flow& flow) {
    FERMATA_ASSERT(flow.arrived + flow.lost <= flow.sent);
    std::string text = "  " + flow.text;
    if (flow.is_datagrams) text += "  " + counted(flow.messages, "datagram");
    text += fmt::format("  sent {} bytes, arrived {}, lost {}, in flight {}", grouped(flow.sent),
                        grouped(flow.arrived), grouped(flow.lost),
                        grouped(flow.sent - flow.arrived - flow.lost));
    if (!flow.state.empty()) text += "  (" + flow.state + ')';
    text += '\n';
    const std::size_t listed = std::min(flow.missing.size(), kMostListed);
    for (std::size_t i = 0; i < listed; ++i) text += "    " + flow.missing[i] + '\n';
    if (listed < flow.missing.size()) {
      text += fmt::format("    and {} more\n", flow.missing.size() - listed);
    }
    return text;
  }

  const MomentOfRun& moment_;
  std::map<Key, std::size_t> index_;
  std::vector<Flow> flows_;
};

}  // namespace

std::string network_text(const RunLog& run_log, const MomentOfRun& moment) {
  FERMATA_ASSERT(!moment.text.empty());
  const std::string flows = Network(run_log, moment).text();
  std::string text = fmt::format("connections {}:{}\n", moment.text, flows.empty() ? " none" : "");
  if (run_log.message_log().forgotten() > 0) {
    text += fmt::format("  without the first {}, which are not kept\n",
                        counted(run_log.message_log().forgotten(), "message"));
  }
  return text + flows;
}

}  // namespace fermata::sim
