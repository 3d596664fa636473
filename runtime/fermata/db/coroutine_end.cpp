// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/coroutine_end.hpp"

#include <vector>

#include "fermata/core/context.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scope.hpp"

namespace fermata::db::detail {

namespace {

/// In a slot of the coroutine, which is emptied when the coroutine ends.
class Listeners {
 public:
  explicit Listeners(std::uint64_t id) noexcept : id_(id) {}
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;
  ~Listeners() {
    for (const std::weak_ptr<EndListener>& each : listeners_) {
      if (const auto listener = each.lock()) listener->coroutine_ended(id_);
    }
  }
  void add(std::weak_ptr<EndListener> listener) { listeners_.push_back(std::move(listener)); }

 private:
  std::uint64_t id_;
  std::vector<std::weak_ptr<EndListener>> listeners_;
};

/// The slot of a runtime, as a value of its root scope.
backend::SlotKey slot_of(Runtime& runtime) {
  static const auto* const key = new ContextKey<backend::SlotKey>("databases");
  Context context = runtime.root_scope().context();
  if (const backend::SlotKey* const slot = context.find_local(*key)) return *slot;
  const backend::SlotKey slot = runtime.allocate_slot();
  context.set(*key, slot);
  return slot;
}

}  // namespace

void listen_to_end(CoroutineBase& coroutine, std::weak_ptr<EndListener> listener) {
  std::shared_ptr<void>& slot = coroutine.slot(slot_of(coroutine.runtime()));
  if (slot == nullptr) slot = std::make_shared<Listeners>(coroutine.id());
  static_cast<Listeners*>(slot.get())->add(std::move(listener));
}

}  // namespace fermata::db::detail
