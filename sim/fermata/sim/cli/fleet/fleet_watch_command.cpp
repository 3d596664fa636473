// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/cli/fleet/fleet_commands.hpp"
#include "fermata/sim/cli/fleet/fleet_page.hpp"
#include "fermata/sim/cli/interrupts.hpp"
#include "fermata/sim/cli/verdict.hpp"

namespace fermata::sim::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLongestRequest = 8 * 1024;
constexpr Duration kPatience = 5s;
/// A page is as old as this at most.
constexpr Duration kFresh = 2s;

/// The page of a plan, made anew when somebody asks and it is old.
class Page {
 public:
  explicit Page(std::string root) : root_(std::move(root)) {}

  const std::string& text() {
    if (!made_ || now() - *made_ > kFresh) {
      FleetState state = state_of_fleet(root_);
      is_complete_ = state.outcome.is_complete();
      text_ = page_of(state);
      made_ = now();
    }
    return text_;
  }
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }
  [[nodiscard]] const std::string& root() const noexcept { return root_; }

 private:
  std::string root_;
  std::string text_;
  std::optional<Instant> made_;
  bool is_complete_ = false;
};

/// What a finding's file holds; nothing for any other path.
std::optional<std::string> finding(const std::string& root, std::string_view path) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789./";
  const bool is_plain = path.starts_with("/findings/") &&
                        path.find_first_not_of(kAllowed) == std::string_view::npos &&
                        path.find("..") == std::string_view::npos;
  if (!is_plain) return std::nullopt;
  std::ifstream file(root + std::string(path), std::ios::binary);
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

std::string answer(std::string_view status, std::string_view type, std::string_view body) {
  FERMATA_ASSERT(!status.empty() && !type.empty());
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nX-Content-Type-Options: "
      "nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{}",
      status, type, body.size(), body);
}

std::string answer_to(std::string_view request, Page& page) {
  constexpr std::string_view kGet = "GET ";
  if (!request.starts_with(kGet)) return answer("405 Method Not Allowed", "text/plain", "GET\n");
  request.remove_prefix(kGet.size());
  const std::string_view path = request.substr(0, request.find(' '));
  constexpr const char* kHtml = "text/html; charset=utf-8";
  if (path == "/") return answer("200 OK", kHtml, page.text());
  if (const auto file = finding(page.root(), path)) {
    return answer("200 OK", path.ends_with(".html") ? kHtml : "text/plain; charset=utf-8", *file);
  }
  return answer("404 Not Found", "text/plain", "not found\n");
}

void serve(TcpStream& peer, Page& page) {
  std::string request;
  std::array<std::byte, 1024> buffer;
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < kLongestRequest) {
    const std::size_t count = peer.read(buffer, {.timeout = kPatience});
    if (count == 0) return;
    request.append(reinterpret_cast<const char*>(buffer.data()), count);
  }
  const std::string reply = answer_to(request, page);
  peer.write(std::as_bytes(std::span(reply)), {.timeout = kPatience});
}

/// Until an interrupt comes.
void serve_all(const Address& address, Page& page) {
  TcpListener listener = TcpListener::bind(address);
  fmt::print("http://{}/\n", listener.local_address().text());
  std::fflush(stdout);
  const auto accepting = spawn("accepting", [&] {
    while (auto peer = listener.accept()) {
      spawn("peer", [&page, peer = std::move(*peer)]() mutable {
        try {
          serve(peer, page);
        } catch (const std::exception&) {  // The peer has gone, or said nothing for long.
          peer.close();
        }
      });
    }
  });
  while (interrupts() == 0) delay(50ms);
  accepting.cancel();
}

/// Until the plan is complete, or an interrupt comes.
void write_all(const std::string& file, Page& page) {
  while (interrupts() == 0) {
    write_whole_file(file, page.text(), "the page ");
    if (page.is_complete()) return;
    delay(kFresh + 1s);
  }
}

}  // namespace

int fleet_watch_command(const Arguments& arguments, MakeReactor make_reactor) {
  Page page(arguments.operands.front());
  static_cast<void>(FleetPlan::load(page.root()));
  const std::string file = arguments.value("FERMATA_REPORT");
  const std::string listen = arguments.value("FERMATA_LISTEN");
  if (!file.empty() && !listen.empty()) {
    throw UsageError("fleet watch: -o and --listen do not go together: expected one of them");
  }
  count_interrupts();
  Runtime runtime(make_reactor(), {.handle_stop_signals = false});
  runtime.run([&] {
    if (!file.empty()) return write_all(file, page);
    serve_all(listen.empty() ? Address("127.0.0.1", 0) : Address::parse(listen), page);
  });
  return kPass;
}

}  // namespace fermata::sim::cli
