// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/descriptor.hpp"

#include "fermata/sync/operation.hpp"

namespace fermata {

Descriptor::Descriptor(int descriptor, DescriptorOwner owner, const SourcePlace& place)
    : poll_(current_runtime().reactor().polls().open(descriptor)) {
  poll_->set_made_at(place);
  if (owner == DescriptorOwner::Runtime) poll_->set_close_descriptor(true);
}

PollMask Descriptor::wait(PollMask mask, const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  backend::PollProxy proxy(*poll_, mask);
  fermata::wait(proxy, options, place);
  return proxy.triggered();
}

backend::DescriptorCalls& descriptor_calls() { return current_runtime().reactor().polls().calls(); }

}  // namespace fermata
