// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/tty.hpp"

#include "fermata/core/runtime.hpp"
#include "fermata/reactor/streams.hpp"

namespace fermata {

TtyStream TtyStream::open(StandardStream which, const SourcePlace& place) {
  return TtyStream(current_runtime().reactor().streams().open_standard(which), place);
}

}  // namespace fermata
