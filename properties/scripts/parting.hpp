// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is left to be done by the end of something: code of users that runs in destructors, wherever
// the runtime happens to be at the time.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace fermata::properties {

/// Does something at its end, whoever ends it.
class Parting {
 public:
  explicit Parting(std::function<void()> deed) : deed_(std::move(deed)) {}
  Parting(const Parting&) = delete;
  Parting& operator=(const Parting&) = delete;
  ~Parting() { deed_(); }

 private:
  std::function<void()> deed_;
};
using SharedParting = std::shared_ptr<Parting>;

/// How many kinds of things there are whose end may be a parting.
inline constexpr unsigned kPartingHosts = 8;

/// What a number stands for.
[[nodiscard]] std::string_view host_text(std::uint8_t host);
/// Whether it is a local variable of the actor itself, whose destructor may suspend.
[[nodiscard]] constexpr bool is_the_actor(std::uint8_t host) { return host % kPartingHosts == 0; }

/// Leaves `parting` to something that does not live long, and that nobody else has. REQUIRES: not
/// the actor.
void leave_to(std::uint8_t host, SharedParting parting);

}  // namespace fermata::properties
