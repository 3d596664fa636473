// SPDX-License-Identifier: Apache-2.0

// The call stack of a coroutine, for code of the same thread.

#include <unwind.h>

#include "fermata/base/assert.hpp"
#include "fermata/context/peek.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata {

namespace {

constexpr std::size_t kMostFrames = 256;

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* into) {
  auto& frames = *static_cast<std::vector<const void*>*>(into);
  const auto address = _Unwind_GetIP(context);
  if (address == 0 || frames.size() == kMostFrames) return _URC_END_OF_STACK;
  frames.push_back(reinterpret_cast<const void*>(address));
  return _URC_NO_REASON;
}

void note_all(void* into) noexcept { _Unwind_Backtrace(&note_frame, into); }

}  // namespace

std::vector<const void*> CoroutineBase::call_stack() const {
  std::vector<const void*> frames;
  if (!is_started() || is_closed()) return frames;
  FERMATA_ASSERT(context_ != nullptr);
  frames.reserve(kMostFrames);  // What runs on another's stack allocates nothing.
  detail::Scheduler& scheduler = runtime().scheduler();
  if (scheduler.running_context() == context_) {
    note_all(&frames);
  } else {
    detail::run_on_top_of(*context_, *scheduler.running_context(), &note_all, &frames);
  }
  return frames;
}

}  // namespace fermata
