// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fermata/runtime.hpp>

namespace bench {

/// An event that one coroutine fires and another waits for, again and again.
class Signal final : public fermata::Event {
 public:
  Signal() : Event(fermata::current_runtime(), fermata::backend::EventKind::Plain) {}
  ~Signal() override { shut(); }

 private:
  void dispose() noexcept override {}
};

}  // namespace bench
