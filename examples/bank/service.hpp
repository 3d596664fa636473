// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bank over TCP: a line of JSON each way.
//
//   {"transfer": "k17", "from": 1, "to": 2, "amount": 10}   {"ok": true}, {"refused": "..."} or
//                                                           {"error": "..."}: ask again
//   {"accounts": true}                                      {"accounts": [[1, 90], [2, 110]]}

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "examples/bank/bank.hpp"

namespace bank {

/// What a client says, line by line.
class Lines {
 public:
  explicit Lines(fermata::TcpStream& client) : client_(client) {}

  /// Nothing once the client has ended; what it has not ended with a line feed is not a line.
  std::optional<std::string> next() {
    std::size_t end;
    while ((end = text_.find('\n')) == std::string::npos) {
      std::array<char, 4'096> piece;
      const std::size_t size = client_.read(std::as_writable_bytes(std::span(piece)));
      if (size == 0) return std::nullopt;
      text_.append(piece.data(), size);
    }
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }

 private:
  fermata::TcpStream& client_;
  std::string text_;
};

inline nlohmann::json answer(Bank& bank, const std::string& line) {
  try {
    const auto request = nlohmann::json::parse(line);
    if (request.contains("accounts")) {
      auto accounts = nlohmann::json::array();
      for (const Account& account : bank.accounts()) {
        accounts.push_back({account.id, account.balance});
      }
      return {{"accounts", accounts}};
    }
    bank.transfer(request.at("transfer"), request.at("from"), request.at("to"),
                  request.at("amount"));
    return {{"ok", true}};
  } catch (const Refused& refused) {
    return {{"refused", refused.what()}};
  } catch (const nlohmann::json::exception& error) {
    return {{"refused", error.what()}};
  } catch (const fermata::Error& error) {
    return {{"error", error.what()}};
  }
}

inline void serve(Bank& bank, fermata::TcpListener& listener) {
  while (auto client = listener.accept()) {
    fermata::spawn("client", [&bank, client = std::move(*client)]() mutable {
      try {
        Lines lines(client);
        while (const auto line = lines.next()) client.write(answer(bank, *line).dump() + "\n");
      } catch (const fermata::InputOutputError&) {
        // The client has gone.
      }
    });
  }
}

}  // namespace bank
