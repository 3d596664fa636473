// SPDX-License-Identifier: Apache-2.0
#include "properties/subjects/watched_channel.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

namespace fermata::properties {

WatchedChannel::WatchedChannel(Stage& stage, std::string name, std::size_t capacity,
                               const ChannelOptions& options,
                               std::function<bool(std::size_t)> sleeps)
    : stage_(stage),
      capacity_(capacity),
      sleeps_(std::move(sleeps)),
      channel_(std::move(name), capacity, options) {}

// --- dues ---

std::size_t WatchedChannel::others(const models::LineModel& line, std::size_t actor) {
  return static_cast<std::size_t>(std::count_if(line.line().begin(), line.line().end(),
                                                [&](std::size_t each) { return each != actor; }));
}

Due WatchedChannel::due_of_send(std::size_t actor) const {
  if (channel_.is_closed()) return Due::Now;
  const std::size_t stored = model_.stored();
  if (capacity_ == 0) return model_.receivers.line().empty() ? Due::Later : Due::Unknown;
  if (stored >= capacity_) return Due::Later;
  return stored + others(model_.senders, actor) < capacity_ ? Due::Now : Due::Unknown;
}

Due WatchedChannel::due_of_receive(std::size_t actor) const {
  const std::size_t stored = model_.stored();
  if (stored > others(model_.receivers, actor)) return Due::Now;
  if (stored > 0) return Due::Unknown;
  if (channel_.is_closed()) return Due::Now;
  return model_.senders.line().empty() ? Due::Later : Due::Unknown;
}

// --- ends ---

int WatchedChannel::offered_by_select(std::size_t sender) {
  selecting_.insert(sender);
  return model_.offered(sender);
}

models::Complaint WatchedChannel::served(models::LineModel& line, std::size_t place) const {
  const models::Complaint complaint = line.served(place, [this](std::size_t other) {
    return other < kFirstPlace ? stage_.parked(other) : sleeps_ && sleeps_(other);
  });
  return complaint.empty() ? complaint : "CHAN-07, " + complaint;
}

void WatchedChannel::accepted(std::size_t place, int tag) {
  selecting_.erase(place);
  stage_.complain(served(model_.senders, place));
  stage_.complain(model_.accepted(tag));
}

void WatchedChannel::refused(std::size_t place, int tag, bool cancelled) {
  model_.senders.left(place);
  selecting_.erase(place);
  const bool in_channel = capacity_ == 0 && channel_.count() > 0;
  stage_.complain(model_.refused(tag, cancelled, in_channel));
}

void WatchedChannel::served_receiver(std::size_t place, int tag) {
  stage_.complain(served(model_.receivers, place));
  received(tag);
}

void WatchedChannel::received(int tag) {
  stage_.complain(model_.received(tag, [this](std::size_t sender) {
    return sender < kFirstPlace && !selecting_.contains(sender) &&
           &stage_.actor(sender) != current_runtime().current() &&
           stage_.actor(sender).waker().error != nullptr;
  }));
}

// --- looking ---

models::ChannelFigures WatchedChannel::figures() const {
  models::ChannelFigures now;
  now.count = channel_.count();
  now.closed = channel_.is_closed();
  const int read = std::sscanf(
      channel_.info().c_str(),
      "Channel(capacity=%zu, receivers=%zu, senders=%zu, reserved=%zu/%zu)", &now.capacity,
      &now.receivers, &now.senders, &now.reserved_receivers, &now.reserved_senders);
  if (read != 5) stage_.complain("ERR: " + channel_.info() + " is not what a channel says");
  return now;
}

void WatchedChannel::look() const {
  stage_.complain(models::ChannelModel::figures_are_sound(figures()));
  stage_.complain(model_.recount(figures()));
}

void WatchedChannel::at_rest() const {
  look();
  stage_.complain(model_.is_at_rest(figures()));
}

void WatchedChannel::at_end() {
  at_rest();
  while (const std::optional<int> tag = channel_.count() > 0 ? channel_.try_recv() : std::nullopt)
    received(*tag);
  stage_.complain(model_.conserved());
}

}  // namespace fermata::properties
