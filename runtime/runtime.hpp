// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything a program on Fermata needs, but for the reactor it runs on.

#include "fermata/runtime/base/error.hpp"         // IWYU pragma: export
#include "fermata/runtime/base/time.hpp"          // IWYU pragma: export
#include "fermata/runtime/core/assertions.hpp"    // IWYU pragma: export
#include "fermata/runtime/core/context.hpp"       // IWYU pragma: export
#include "fermata/runtime/core/fault_point.hpp"   // IWYU pragma: export
#include "fermata/runtime/core/runtime.hpp"       // IWYU pragma: export
#include "fermata/runtime/core/scope.hpp"         // IWYU pragma: export
#include "fermata/runtime/core/spawn.hpp"         // IWYU pragma: export
#include "fermata/runtime/core/suspend.hpp"       // IWYU pragma: export
#include "fermata/runtime/core/timer.hpp"         // IWYU pragma: export
#include "fermata/runtime/io/descriptor.hpp"      // IWYU pragma: export
#include "fermata/runtime/io/dns.hpp"             // IWYU pragma: export
#include "fermata/runtime/io/exec.hpp"            // IWYU pragma: export
#include "fermata/runtime/io/file.hpp"            // IWYU pragma: export
#include "fermata/runtime/io/file_system.hpp"     // IWYU pragma: export
#include "fermata/runtime/io/file_watcher.hpp"    // IWYU pragma: export
#include "fermata/runtime/io/io.hpp"              // IWYU pragma: export
#include "fermata/runtime/io/offload.hpp"         // IWYU pragma: export
#include "fermata/runtime/io/pipe.hpp"            // IWYU pragma: export
#include "fermata/runtime/io/process.hpp"         // IWYU pragma: export
#include "fermata/runtime/io/remote_promise.hpp"  // IWYU pragma: export
#include "fermata/runtime/io/signal.hpp"          // IWYU pragma: export
#include "fermata/runtime/io/tcp.hpp"             // IWYU pragma: export
#include "fermata/runtime/io/thread.hpp"          // IWYU pragma: export
#include "fermata/runtime/io/thread_channel.hpp"  // IWYU pragma: export
#include "fermata/runtime/io/thread_lock.hpp"     // IWYU pragma: export
#include "fermata/runtime/io/thread_pool.hpp"     // IWYU pragma: export
#include "fermata/runtime/io/trigger.hpp"         // IWYU pragma: export
#include "fermata/runtime/io/tty.hpp"             // IWYU pragma: export
#include "fermata/runtime/io/udp.hpp"             // IWYU pragma: export
#include "fermata/runtime/sync/await.hpp"         // IWYU pragma: export
#include "fermata/runtime/sync/await_all.hpp"     // IWYU pragma: export
#include "fermata/runtime/sync/barrier.hpp"       // IWYU pragma: export
#include "fermata/runtime/sync/channel.hpp"       // IWYU pragma: export
#include "fermata/runtime/sync/condition.hpp"     // IWYU pragma: export
#include "fermata/runtime/sync/future.hpp"        // IWYU pragma: export
#include "fermata/runtime/sync/iterate.hpp"       // IWYU pragma: export
#include "fermata/runtime/sync/mutex.hpp"         // IWYU pragma: export
#include "fermata/runtime/sync/once.hpp"          // IWYU pragma: export
#include "fermata/runtime/sync/pool.hpp"          // IWYU pragma: export
#include "fermata/runtime/sync/semaphore.hpp"     // IWYU pragma: export
#include "fermata/runtime/sync/task_group.hpp"    // IWYU pragma: export
#include "fermata/runtime/sync/task_set.hpp"      // IWYU pragma: export
#include "fermata/runtime/sync/timeout.hpp"       // IWYU pragma: export
