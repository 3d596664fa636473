// SPDX-License-Identifier: Apache-2.0

// Questions to the name service.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace names {

constexpr std::array<std::string_view, 5> kHosts = {"store.example", "10.9.8.7", "localhost",
                                                    "nobody.example", "main"};

constexpr std::string_view kNobody = "10.77.0.1";  // Nobody has this address.

class Names final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {10, "resolve", does<&Names::resolve_one>},
        {4, "reverse", does<&Names::reverse>},
        {2, "move", does<&Names::move>},
    });
  }

  explicit Names(Stage& on) : Subject(on) { move({}); }

  void perform(const Operation& operation, const Cue& cue) override {
    const Causes::Beginning asked = stage.causes().begin();
    try {
      Subject::perform(operation, cue);
    } catch (const DnsError& error) {
      check(host_for(cue), error, asked);
    }
  }

  void at_rest() override {
    for (std::size_t actor = 0; actor < stage.actor_count(); ++actor) {
      if (stage.parked(actor)) stage.complain("DNS-01 (WAKE): somebody waits for an answer still");
    }
    if (current_runtime().reactor().names().in_flight() > 0) {
      stage.complain("DNS-02 (REF): nobody asks any more, and a question is in flight");
    }
  }

 private:
  [[nodiscard]] static std::string_view host_for(const Cue& cue) {
    return kHosts[(cue.actor + cue.number) % kHosts.size()];
  }

  void resolve_one(const Cue& cue) {
    const std::string_view host = host_for(cue);
    check(host, resolve(host, cue.number % 2 == 0 ? "80" : "http", cue.patience));
  }
  void reverse(const Cue& cue) {
    const bool is_known = cue.number % 2 == 0;
    check(reverse_resolve(Address(is_known ? "127.0.0.1" : kNobody, 80), cue.patience),
          is_known ? "localhost" : kNobody);
  }
  void move(const Cue& cue) {
    addresses_.push_back(Address(fmt::format("10.0.0.{}", addresses_.size() + 1), 0));
    const std::array<Address, 2> both = {addresses_.back(), Address("10.1.1.1", cue.number)};
    stage.world().set_addresses(kHosts[0], both);
  }

  void check(std::string_view host, const std::vector<Address>& answer) {
    const auto is = [&](std::string_view ip) {
      return answer.size() == 1 && answer[0] == Address(ip, 80);
    };
    bool right = !answer.empty();
    if (host == kHosts[0]) {
      const auto was = [&](const Address& each) { return each.with_port(80) == answer[0]; };
      right = answer.size() == 2 && answer[1] == Address("10.1.1.1", 80) &&
              std::any_of(addresses_.begin(), addresses_.end(), was);
    } else if (host == kHosts[1]) {
      right = is(host);
    } else if (host == kHosts[2]) {
      right = is("127.0.0.1");
    } else if (host == kHosts[3]) {
      right = false;
    }
    if (!right) stage.complain(fmt::format("DNS-01 (VAL): a wrong answer for {}", host));
  }
  void check(const HostName& name, std::string_view expected) {
    if (name.host == expected) return;
    stage.complain(fmt::format("DNS-01 (VAL): {} is called {}", expected, name.host));
  }
  void check(std::string_view host, const DnsError& error, const Causes::Beginning& asked) {
    const bool failed = error.reason() == NameFailure::TryAgain &&
                        stage.causes().explain(sim::Fault::DnsFailure, asked);
    const bool unknown = error.reason() == NameFailure::NotFound && host == kHosts[3];
    if (!failed && !unknown) stage.complain(fmt::format("DNS-01 (ERR): {}", error.what()));
  }

  std::vector<Address> addresses_;  // That the first host has had.
};

}  // namespace names
}  // namespace

constinit const Law kNames = {"names",
                              "each question has one outcome, and it is the right one",
                              {"G-05", "DNS-01", "DNS-02"},
                              &scripts_over<names::Names>};

}  // namespace fermata::properties
