// SPDX-License-Identifier: Apache-2.0
#pragma once

// An epoll(7): which descriptions are watched, under which numbers, and which of them are ready.
//
// Registrations  Each is of a description under a descriptor's number. It lives as long as that
//                description does, also when its number is closed and a duplicate is left.
// Order          Ready registrations are told in the order in which they became ready, and then go
//                to the end of the line, as on Linux. When several become ready in one turn, that
//                turn has drawn their order.
// Edges          An edge-triggered registration is told once for each change of its description
// that
//                is about something that it wants; then it is told all that it is ready for.

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "fermata/sim/posix/description.hpp"

namespace fermata::sim::detail {

class Epoll final : public Description {
 public:
  Epoll(Machine& machine, std::uint64_t serial);
  ~Epoll() override;

  /// All three return 0 or a negative errno.
  int add(int descriptor, Description& watched, const epoll_event& event);
  int modify(int descriptor, Description& watched, const epoll_event& event);
  int remove(int descriptor, const Description& watched);
  /// Tells the coroutine `reader` what is ready, and returns how many that are.
  int collect(std::span<epoll_event> room, std::uint64_t reader);
  /// Whether `other` is this one, or is watched by it, at any depth.
  [[nodiscard]] bool reaches(const Description& other) const noexcept;

  /// How many epolls there are below each other, this one included.
  [[nodiscard]] int depth() const noexcept;

  [[nodiscard]] std::string state() override;
  [[nodiscard]] int readable_bytes() override { return -EINVAL; }
  [[nodiscard]] std::string maker() override { return "whoever makes one of them ready"; }
  [[nodiscard]] Readiness readiness() override;
  [[nodiscard]] Readiness readiness_for(std::uint64_t reader) override;

  using Description::add;
  using Description::remove;

 private:
  class Registration;
  using Key = std::pair<const Description*, int>;
  /// By the number first, so that the order does not depend on addresses.
  struct InOrder {
    bool operator()(const Key& a, const Key& b) const noexcept;
  };

  void became_ready(Registration& registration);

  std::map<Key, std::unique_ptr<Registration>, InOrder> registrations_;
  std::list<Registration*> ready_;  // That may be ready, in the order of being told.
};

}  // namespace fermata::sim::detail
