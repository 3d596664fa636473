// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/epoll.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

namespace {
constexpr Readiness kModes = EPOLLET | EPOLLONESHOT | EPOLLEXCLUSIVE | EPOLLWAKEUP;
}  // namespace

class Epoll::Registration final : public DescriptionWatcher {
 public:
  Registration(Epoll& epoll, int descriptor, Description& watched)
      : epoll_(epoll), descriptor_(descriptor), watched_(&watched) {
    watched.add(*this);
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() {
    leave_line();
    if (watched_ != nullptr) watched_->remove(*this);
  }

  void set(const epoll_event& event) {
    wanted_ = event.events;
    data_ = event.data;
    enabled_ = true;
    look(kAnything);
  }

  [[nodiscard]] Readiness ready() const { return enabled_ ? asked(watched_->readiness()) : 0; }
  [[nodiscard]] Readiness ready_for(std::uint64_t reader) const {
    return enabled_ ? asked(watched_->readiness_for(reader)) : 0;
  }
  [[nodiscard]] epoll_event told(Readiness ready) const noexcept {
    return {.events = ready, .data = data_};
  }
  /// It has been told. Returns whether it stays in the line.
  [[nodiscard]] bool was_told() noexcept {
    if ((wanted_ & EPOLLONESHOT) != 0) enabled_ = false;
    return enabled_ && (wanted_ & EPOLLET) == 0;
  }
  [[nodiscard]] Description& watched() const noexcept { return *watched_; }

  void look(Readiness news) override {
    if ((news & (wanted_ | kAlwaysTold)) == 0) return;
    if (ready() != 0) epoll_.became_ready(*this);
  }
  void gone(Description& description) override {
    FERMATA_ASSERT(&description == watched_);
    leave_line();
    watched_ = nullptr;
    epoll_.registrations_.erase({&description, descriptor_});  // Destroys this registration.
  }

  void leave_line() noexcept {
    if (in_line_) epoll_.ready_.remove(this);
    in_line_ = false;
  }

  bool in_line_ = false;

 private:
  [[nodiscard]] Readiness asked(Readiness ready) const noexcept {
    return ready & ((wanted_ & ~kModes) | kAlwaysTold);
  }

  Epoll& epoll_;
  int descriptor_;
  Description* watched_;
  Readiness wanted_ = 0;
  epoll_data_t data_ = {};
  bool enabled_ = false;
};

bool Epoll::InOrder::operator()(const Key& a, const Key& b) const noexcept {
  return std::tuple(a.second, a.first->serial()) < std::tuple(b.second, b.first->serial());
}

Epoll::Epoll(Machine& machine, std::uint64_t serial) : Description(machine, "epoll", serial) {
  status = O_RDWR;
}

Epoll::~Epoll() { registrations_.clear(); }

std::string Epoll::state() { return fmt::format("{} watched", registrations_.size()); }

int Epoll::add(int descriptor, Description& watched, const epoll_event& event) {
  const Key key{&watched, descriptor};
  if (registrations_.contains(key)) return -EEXIST;
  auto made = std::make_unique<Registration>(*this, descriptor, watched);
  Registration& registration = *made;
  registrations_.emplace(key, std::move(made));
  registration.set(event);
  return 0;
}

int Epoll::modify(int descriptor, Description& watched, const epoll_event& event) {
  const auto found = registrations_.find({&watched, descriptor});
  if (found == registrations_.end()) return -ENOENT;
  found->second->set(event);
  return 0;
}

int Epoll::remove(int descriptor, const Description& watched) {
  return registrations_.erase({&watched, descriptor}) == 1 ? 0 : -ENOENT;
}

void Epoll::became_ready(Registration& registration) {
  if (!registration.in_line_) {
    registration.in_line_ = true;
    ready_.push_back(&registration);
  }
  changed(EPOLLIN);
}

int Epoll::collect(std::span<epoll_event> room, std::uint64_t reader) {
  std::size_t count = 0;
  for (std::size_t left = ready_.size(); left > 0 && count < room.size(); --left) {
    Registration& first = *ready_.front();
    ready_.pop_front();
    FERMATA_ASSERT(first.in_line_);
    const Readiness ready = first.ready_for(reader);
    first.in_line_ = ready != 0 && first.was_told();
    if (first.in_line_) ready_.push_back(&first);
    if (ready != 0) room[count++] = first.told(ready);
  }
  return static_cast<int>(count);
}

Readiness Epoll::readiness() {
  for (const Registration* each : ready_) {
    if (each->ready() != 0) return EPOLLIN;
  }
  return 0;
}

Readiness Epoll::readiness_for(std::uint64_t reader) {
  for (const Registration* each : ready_) {
    if (each->ready_for(reader) != 0) return EPOLLIN;
  }
  return 0;
}

bool Epoll::reaches(const Description& other) const noexcept {
  if (&other == this) return true;
  for (const auto& [key, registration] : registrations_) {
    const auto* const inner = dynamic_cast<const Epoll*>(key.first);
    if (inner != nullptr && inner->reaches(other)) return true;
  }
  return false;
}

int Epoll::depth() const noexcept {
  int deepest = 0;
  for (const auto& [key, registration] : registrations_) {
    const auto* const inner = dynamic_cast<const Epoll*>(key.first);
    if (inner != nullptr) deepest = std::max(deepest, inner->depth());
  }
  return deepest + 1;
}

}  // namespace fermata::sim::detail
