// SPDX-License-Identifier: Apache-2.0
#pragma once

// A channel of tagged values beside its model: what every call at it must come to.

#include <cstddef>
#include <functional>
#include <set>
#include <string>

#include "fermata/sync/channel.hpp"
#include "properties/models/channel_model.hpp"
#include "properties/scripts/stage.hpp"

namespace fermata::properties {

class WatchedChannel {
 public:
  /// `sleeps` says of a place in line that does not belong to an actor whether its holder still
  /// waits.
  WatchedChannel(Stage& stage, std::string name, std::size_t capacity,
                 const ChannelOptions& options = {},
                 std::function<bool(std::size_t place)> sleeps = nullptr);

  [[nodiscard]] const Channel<int>& channel() const noexcept { return channel_; }
  [[nodiscard]] models::ChannelModel& model() noexcept { return model_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// The first place in line that is not an actor's own; actors have smaller numbers.
  static constexpr std::size_t kFirstPlace = 100;

  // --- what the model says of a call that is about to be made ---

  [[nodiscard]] Due due_of_send(std::size_t actor) const;
  [[nodiscard]] Due due_of_receive(std::size_t actor) const;

  /// A select of `sender` offers a value. At a rendezvous that may have left it when the sender is
  /// cancelled.
  [[nodiscard]] int offered_by_select(std::size_t sender);

  // --- how a call has ended ---

  void accepted(std::size_t place, int tag);
  void refused(std::size_t place, int tag, bool cancelled);
  /// The receiver at `place` has been given a value.
  void served_receiver(std::size_t place, int tag);
  void received(int tag);

  // --- at any time ---

  /// Complains when the channel has not what the model has.
  void look() const;
  void at_rest() const;
  /// Everybody has ended: receives what is left. REQUIRES: it is closed.
  void at_end();

 private:
  [[nodiscard]] models::ChannelFigures figures() const;
  [[nodiscard]] models::Complaint served(models::LineModel& line, std::size_t place) const;
  [[nodiscard]] static std::size_t others(const models::LineModel& line, std::size_t actor);

  Stage& stage_;
  std::size_t capacity_;
  std::function<bool(std::size_t)> sleeps_;
  Channel<int> channel_;
  models::ChannelModel model_;
  std::set<std::size_t> selecting_;  // Actors that offer a value by a select.
};

}  // namespace fermata::properties
