// SPDX-License-Identifier: Apache-2.0
#include <fermata/core/runtime.hpp>
#include <fermata/poll/backends.hpp>
#include <fermata/poll/reactor.hpp>

int main() {
  namespace poll = fermata::poll;
  fermata::Runtime runtime(poll::make_reactor(poll::make_backend(poll::BackendKind::Ppoll)));
  return runtime.run([] { return 0; });
}
