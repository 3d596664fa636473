// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/wait_facts.hpp"

#include "fermata/core/runtime.hpp"

namespace fermata::backend {

WaitPerson WaitPerson::present() {
  const Runtime* const here = detail::current_runtime_pointer;
  if (here == nullptr || here->kernel().wait_log == nullptr || here->current() == nullptr) {
    return {};
  }
  return {here, here->current()->id(), here->name() + "/" + here->current()->label()};
}

}  // namespace fermata::backend
