// SPDX-License-Identifier: Apache-2.0
#pragma once

// Questions and answers of one line each, one question on a connection.

#include <array>
#include <chrono>
#include <fermata/runtime.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>

/// Who takes part, by name, and where.
using Members = std::map<std::string, fermata::Address>;

constexpr std::chrono::milliseconds kPatience{300};

/// What comes before the next line feed; empty when the stream ends without one.
inline std::string read_line(fermata::TcpStream& stream) {
  std::string line;
  std::array<std::byte, 256> buffer;
  while (line.empty() || line.back() != '\n') {
    const std::size_t size = stream.read(buffer, {.timeout = kPatience});
    if (size == 0) return {};
    line.append(reinterpret_cast<const char*>(buffer.data()), size);
  }
  line.pop_back();
  return line;
}

/// The answer to `question`; nothing when none comes. The question may have been heard all the
/// same.
inline std::optional<std::string> ask(const fermata::Address& whom, const std::string& question) {
  try {
    auto stream = fermata::TcpStream::connect(whom, {.timeout = kPatience});
    stream.write(question + "\n", {.timeout = kPatience});
    std::string answer = read_line(stream);
    if (!answer.empty()) return answer;
  } catch (const fermata::Error&) {  // Refused, reset, too late: no answer.
  }
  return std::nullopt;
}

/// Lets `answerer`, which its sessions share, answer(question), several at a time, until it is
/// cancelled. The answer is not empty.
template <class Answerer>
void serve(const fermata::Address& here, const std::shared_ptr<Answerer>& answerer) {
  auto listener = fermata::TcpListener::bind(here);
  while (auto accepted = listener.accept()) {
    fermata::spawn("session", [answerer, peer = std::move(*accepted)]() mutable {
      try {
        const std::string question = read_line(peer);
        if (!question.empty())
          peer.write(answerer->answer(question) + "\n", {.timeout = kPatience});
      } catch (const fermata::Error&) {  // Whoever asked is gone.
      }
    });
  }
}
