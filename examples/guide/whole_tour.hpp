// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "examples/guide/cancellation.hpp"
#include "examples/guide/channels.hpp"
#include "examples/guide/coroutines.hpp"
#include "examples/guide/files.hpp"
#include "examples/guide/from_asio.hpp"
#include "examples/guide/from_libuv.hpp"
#include "examples/guide/from_threads.hpp"
#include "examples/guide/futures.hpp"
#include "examples/guide/locks.hpp"
#include "examples/guide/network.hpp"
#include "examples/guide/pools.hpp"
#include "examples/guide/processes.hpp"
#include "examples/guide/scopes.hpp"
#include "examples/guide/task_groups.hpp"
#include "examples/guide/tasks.hpp"
#include "examples/guide/threads.hpp"
#include "examples/guide/udp.hpp"

namespace guide {

/// Every page of the guide.
inline void whole_tour() {
  coroutines::tour();
  cancellation::tour();
  channels::tour();
  pools::tour();
  locks::tour();
  task_groups::tour();
  futures::tour();
  tasks::tour();
  scopes::tour();
  network::tour();
  udp::tour();
  files::tour();
  threads::tour();
  processes::tour();
  from_threads::tour();
  from_asio::tour();
  from_libuv::tour();
}

}  // namespace guide
