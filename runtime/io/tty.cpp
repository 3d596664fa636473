// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/io/tty.hpp"

#include "fermata/runtime/core/runtime.hpp"
#include "fermata/runtime/reactor/streams.hpp"

namespace fermata {

TtyStream TtyStream::open(StandardStream which, const SourcePlace& place) {
  return TtyStream(current_runtime().reactor().streams().open_standard(which), place);
}

}  // namespace fermata
