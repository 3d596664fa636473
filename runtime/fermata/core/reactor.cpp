// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/reactor.hpp"

#include "fermata/base/error.hpp"

namespace fermata::backend {

std::unique_ptr<Watchdog> Reactor::make_watchdog(Duration, Watchdog::Report) { return nullptr; }

Polls& Reactor::polls() { throw Unsupported("polls", name()); }
Signals& Reactor::signals() { throw Unsupported("signals", name()); }
Triggers& Reactor::triggers() { throw Unsupported("triggers", name()); }
Streams& Reactor::streams() { throw Unsupported("streams", name()); }
Datagrams& Reactor::datagrams() { throw Unsupported("datagrams", name()); }
Files& Reactor::files() { throw Unsupported("files", name()); }
Names& Reactor::names() { throw Unsupported("names", name()); }
Processes& Reactor::processes() { throw Unsupported("processes", name()); }
FileWatches& Reactor::file_watches() { throw Unsupported("file watches", name()); }
Threads& Reactor::threads() { throw Unsupported("threads", name()); }
Offload& Reactor::offload() { throw Unsupported("offload", name()); }

}  // namespace fermata::backend
