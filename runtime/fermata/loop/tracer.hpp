// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fermata/base/source_place.hpp"
#include "fermata/loop/callback.hpp"

namespace fermata::loop {

/// Hears of every id of a loop, for messages about it.
class Tracer {
 public:
  virtual ~Tracer() = default;

  /// `info.registered_at` is where.
  virtual void registered(const CallbackInfo& info) = 0;
  /// A callback has ended: by cancel(), at `place`; or because it has run once, and `place` is
  /// null.
  virtual void ended(const CallbackInfo& info, const SourcePlace* place) = 0;

  /// What is known about an id that the loop does not know (any more): goes into InvalidCallback.
  [[nodiscard]] virtual std::string history(CallbackId id) const = 0;
};

}  // namespace fermata::loop
