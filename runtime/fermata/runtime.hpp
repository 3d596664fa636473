// SPDX-License-Identifier: Apache-2.0
#pragma once

// What most programs on Fermata need, but for the reactor they run on. These have headers of their
// own: threads, thread pools, what threads share and wake each other with, shell commands,
// datagrams, terminals, file watchers, descriptors of the program's own, and the one type for all
// that bytes go through.

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
#include "fermata/io/dns.hpp"                       // IWYU pragma: export
#include "fermata/io/file.hpp"                      // IWYU pragma: export
#include "fermata/io/file_system.hpp"               // IWYU pragma: export
#include "fermata/io/offload.hpp"                   // IWYU pragma: export
#include "fermata/io/pipe.hpp"                      // IWYU pragma: export
#include "fermata/io/process.hpp"                   // IWYU pragma: export
#include "fermata/io/readable.hpp"                  // IWYU pragma: export
#include "fermata/io/select_accept.hpp"             // IWYU pragma: export
#include "fermata/io/signal.hpp"                    // IWYU pragma: export
#include "fermata/io/tcp.hpp"                       // IWYU pragma: export
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
#include "fermata/sync/when_all.hpp"                // IWYU pragma: export
#include "fermata/sync/within.hpp"                  // IWYU pragma: export
