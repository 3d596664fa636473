// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything a program on Fermata needs, but for the reactor it runs on.

#include "fermata/base/error.hpp"                   // IWYU pragma: export
#include "fermata/base/time.hpp"                    // IWYU pragma: export
#include "fermata/core/assertions.hpp"              // IWYU pragma: export
#include "fermata/core/clock.hpp"                   // IWYU pragma: export
#include "fermata/core/context.hpp"                 // IWYU pragma: export
#include "fermata/core/fault_point.hpp"             // IWYU pragma: export
#include "fermata/core/log.hpp"                     // IWYU pragma: export
#include "fermata/core/runtime.hpp"                 // IWYU pragma: export
#include "fermata/core/scope.hpp"                   // IWYU pragma: export
#include "fermata/core/spawn.hpp"                   // IWYU pragma: export
#include "fermata/core/suspend.hpp"                 // IWYU pragma: export
#include "fermata/core/timer.hpp"                   // IWYU pragma: export
#include "fermata/io/descriptor.hpp"                // IWYU pragma: export
#include "fermata/io/dns.hpp"                       // IWYU pragma: export
#include "fermata/io/exec.hpp"                      // IWYU pragma: export
#include "fermata/io/file.hpp"                      // IWYU pragma: export
#include "fermata/io/file_system.hpp"               // IWYU pragma: export
#include "fermata/io/file_watcher.hpp"              // IWYU pragma: export
#include "fermata/io/io.hpp"                        // IWYU pragma: export
#include "fermata/io/offload.hpp"                   // IWYU pragma: export
#include "fermata/io/pipe.hpp"                      // IWYU pragma: export
#include "fermata/io/process.hpp"                   // IWYU pragma: export
#include "fermata/io/readable.hpp"                  // IWYU pragma: export
#include "fermata/io/remote_promise.hpp"            // IWYU pragma: export
#include "fermata/io/select_accept.hpp"             // IWYU pragma: export
#include "fermata/io/signal.hpp"                    // IWYU pragma: export
#include "fermata/io/tcp.hpp"                       // IWYU pragma: export
#include "fermata/io/thread.hpp"                    // IWYU pragma: export
#include "fermata/io/thread_channel.hpp"            // IWYU pragma: export
#include "fermata/io/thread_lock.hpp"               // IWYU pragma: export
#include "fermata/io/thread_pool.hpp"               // IWYU pragma: export
#include "fermata/io/trigger.hpp"                   // IWYU pragma: export
#include "fermata/io/tty.hpp"                       // IWYU pragma: export
#include "fermata/io/udp.hpp"                       // IWYU pragma: export
#include "fermata/posix/suspending/suspending.hpp"  // IWYU pragma: export
#include "fermata/sync/await.hpp"                   // IWYU pragma: export
#include "fermata/sync/barrier.hpp"                 // IWYU pragma: export
#include "fermata/sync/channel.hpp"                 // IWYU pragma: export
#include "fermata/sync/condition.hpp"               // IWYU pragma: export
#include "fermata/sync/future.hpp"                  // IWYU pragma: export
#include "fermata/sync/iterate.hpp"                 // IWYU pragma: export
#include "fermata/sync/mutex.hpp"                   // IWYU pragma: export
#include "fermata/sync/once.hpp"                    // IWYU pragma: export
#include "fermata/sync/pool.hpp"                    // IWYU pragma: export
#include "fermata/sync/select.hpp"                  // IWYU pragma: export
#include "fermata/sync/select_join.hpp"             // IWYU pragma: export
#include "fermata/sync/semaphore.hpp"               // IWYU pragma: export
#include "fermata/sync/task.hpp"                    // IWYU pragma: export
#include "fermata/sync/task_group.hpp"              // IWYU pragma: export
#include "fermata/sync/task_set.hpp"                // IWYU pragma: export
#include "fermata/sync/timeout.hpp"                 // IWYU pragma: export
#include "fermata/sync/when_all.hpp"
#include "fermata/sync/within.hpp"  // IWYU pragma: export
